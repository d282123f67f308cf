import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { resolve } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import { displayPath } from "./place.ts";

const reasons: Record<string, string> = {
  ENOENT: "it doesn't exist",
  EACCES: "this user may not use it",
  EPERM: "this user may not use it",
  EROFS: "its file system is read-only",
  EISDIR: "it is a folder, and a file is wanted",
  ENOTDIR: "it is a file, or goes through one, and a folder is wanted",
  EEXIST: "something else is there already",
  ELOOP: "its symbolic links lead in a circle",
  ENAMETOOLONG: "its name is too long for this file system",
  EIO: "the disk reports an input/output error",
  EMFILE: "this process has too many files open (`ulimit -n` raises the limit)",
  ENFILE: "the system has too many files open",
};

/**
 * Converts the operating system's error about a path that a person named to PATH_UNUSABLE. `named` is that path, for
 * errors that don't contain it. Undefined for any other error.
 */
export function pathError(thrown: unknown, named?: string): EverturnError | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown) || !("syscall" in thrown)) return undefined;
  const path = "path" in thrown ? thrown.path : named;
  if (typeof path !== "string" || typeof thrown.code !== "string") return undefined;
  const { code } = thrown;
  const reason = brokenLink(path) ?? reasons[code] ?? `the system says ${code}`;
  return new EverturnError("PATH_UNUSABLE", { path: displayPath(resolve(path)), reason }, { cause: thrown });
}

/** Throws PATH_UNUSABLE unless a readable folder is at `path`. */
export function checkFolder(path: string): void {
  try {
    readdirSync(path);
  } catch (error) {
    throw pathError(error) ?? error;
  }
}

/** Describes a broken link, which the system reports as missing or as existing already. */
function brokenLink(path: string): string | undefined {
  try {
    if (!lstatSync(path).isSymbolicLink() || existsSync(path)) return undefined;
    return `it is a link to ${readlinkSync(path)}, which leads nowhere`;
  } catch {
    return undefined; // the system's error about the path itself is more precise
  }
}
