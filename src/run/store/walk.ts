import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { isAbsence } from "../../base/errors/system-error.ts";
import { requireMarkToRead } from "../../base/files/marked-folder.ts";
import { readingError } from "../../base/files/storage-errors.ts";
import type { Page } from "./backend.ts";

/** How many paths a part of a listing has at most. */
const pageLength = 1000;

/**
 * The files below `root` whose path begins with `prefix` and follows `after`, in the order of their paths, as an object
 * store lists them. A folder is read only where what is asked for may be in it. `isOther` names what is not listed.
 * Synchronous: most folders hold a handful of files, and ways through the thread pool would double what they cost.
 */
export function pageOf(
  root: string,
  prefix: string,
  after: string | undefined,
  isOther: (path: string) => boolean,
): Page {
  const paths: string[] = [];
  const below = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  for (const path of walk(root, below, { prefix, after: after ?? "", isOther })) {
    if (paths.length === pageLength) return { paths, next: paths.at(-1) ?? "" };
    paths.push(path);
  }
  return { paths };
}

interface Asked {
  prefix: string;
  after: string;
  isOther: (path: string) => boolean;
}

function* walk(root: string, below: string, asked: Asked): Generator<string> {
  const { prefix, after, isOther } = asked;
  const entries = entriesIn(join(root, below))
    .map((entry) => ({ isFolder: entry.isDirectory(), path: `${below}${entry.name}` }))
    .filter(({ path }) => !isOther(path))
    .map(({ isFolder, path }) => ({ isFolder, path: isFolder ? `${path}/` : path }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const { isFolder, path } of entries) {
    if (isFolder) {
      const mayHold = path.startsWith(prefix) || prefix.startsWith(path);
      if (mayHold && (path > after || after.startsWith(path))) yield* walk(root, path, asked);
    } else if (path.startsWith(prefix) && path > after) {
      yield path;
    }
  }
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (!isAbsence(error)) throw readingError(error, folder);
    requireMarkToRead(folder);
    return []; // a folder's existence means nothing
  }
}
