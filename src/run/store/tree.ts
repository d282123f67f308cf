import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { persistently } from "../../base/files/persistently.ts";

/** The size and digest of each file, by its path in the tree, as the tree's record lists them. */
export type Files = Record<string, { size: number; sha256: string }>;

/** A tree in its record's form. */
export interface Tree<Value> {
  /** The attempt that wrote the files. Its name is part of their paths. */
  attempt: string;
  files: Files;
  value: Value;
}

/** The files in one part (a folder) of a tree. */
export function filesOf(files: Files, part: string): Files {
  const names = Object.entries(files).filter(([name]) => partOf(name) === part);
  return Object.fromEntries(
    names.map(([name, file]) => [name.slice(part === "" ? 0 : part.length + 1), file]),
  );
}

/** The part that contains a file of a tree; "" for none. */
export function partOf(name: string): string {
  return name.includes("/") ? name.slice(0, name.indexOf("/")) : "";
}

/** The files in a local folder, each read once. */
export async function filesIn(folder: string): Promise<Files> {
  const files: Files = {};
  const entries = await persistently(() => readdir(folder, { withFileTypes: true, recursive: true }));
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.sort()) {
    const name = relative(folder, path).split(sep).join("/");
    if (!/^[A-Za-z0-9._/-]+$/.test(name))
      throw new Error(`A file of a tree is named ${JSON.stringify(name)}.`);
    files[name] = await digestOf(path);
  }
  return files;
}

/** A file's size in bytes and its SHA-256. */
export function digestOf(path: string): Promise<Files[string]> {
  return persistently(() => digestNow(path));
}

async function digestNow(path: string): Promise<Files[string]> {
  const digest = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) {
    digest.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: digest.digest("hex") };
}
