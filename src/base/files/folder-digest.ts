import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** Identifies a folder's files: their paths, modes and contents. Folders that are named in `without` don't count. */
export async function folderDigest(folder: string, without: readonly string[] = []): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  for (const path of paths.sort()) {
    const name = relative(folder, path);
    if (name.split(sep).some((part) => without.includes(part))) continue;
    const [content, { mode }] = await Promise.all([readFile(path), stat(path)]);
    hash.update(JSON.stringify([name, mode & 0o777, content.length])).update(content);
  }
  return hash.digest("hex").slice(0, 32);
}
