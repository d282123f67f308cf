import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { isAbsence } from "../../base/errors/system-error.ts";
import { requireMarkToRead } from "../../base/files/marked-folder.ts";
import { readingError } from "../../base/files/storage-errors.ts";
import type { Page } from "./backend.ts";

/** The most paths in one part of a listing. */
const pageLength = 1000;

/**
 * The files below `root` whose path begins with `prefix` and comes after `after`, in an object store's order of
 * paths. It reads only folders that may contain some. `isOther` selects files to skip. It is synchronous: most
 * folders contain a handful of files, and trips through the thread pool would double their cost.
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
    return []; // a missing folder has no meaning
  }
}
