import { lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { storageError } from "../../base/files/storage-errors.ts";
import { displayPath } from "../../base/validation/place.ts";

/**
 * Writes files into a folder, which may contain others. It overwrites nothing: if files are in the way, it throws
 * FILES_IN_THE_WAY with all of them and writes none. Throws DISK_FULL, STORE_NOT_WRITABLE and the system's own
 * errors.
 */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  const inTheWay = new Set([...files.keys()].flatMap((path) => obstacle(folder, path) ?? []));
  if (inTheWay.size > 0) {
    const names = [...inTheWay].sort().join(", ");
    throw new EverturnError("FILES_IN_THE_WAY", { folder: displayPath(folder), files: names });
  }
  for (const [path, text] of files) {
    const file = join(folder, path);
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { flag: "wx" });
    } catch (error) {
      throw storageError(error, file);
    }
  }
}

/** The path in the way of a file or of one of its folders. */
function obstacle(folder: string, path: string): string | undefined {
  const parts = path.split(sep);
  const above = parts.map((_, index) => parts.slice(0, index).join(sep)).slice(1);
  const noFolder = above.find((name) => isNoFolder(join(folder, name)));
  if (noFolder !== undefined) return noFolder;
  return lstatSync(join(folder, path), { throwIfNoEntry: false }) && path;
}

function isNoFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false;
}
