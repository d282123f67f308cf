import { createWriteStream } from "node:fs";
import { posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Parser, type ReadEntry } from "tar";

/** An entry of a tar archive. */
export interface TarEntry {
  type: "file" | "folder" | "link" | "hard-link" | "other";
  /** Relative and normalized. Empty for the root. */
  path: string;
  /** The target of a link. */
  target: string;
  /** Without set-user-id and its like. */
  mode: number;
  content: AsyncIterable<Buffer>;
}

const types: Record<string, TarEntry["type"]> = {
  File: "file",
  OldFile: "file",
  ContiguousFile: "file",
  Directory: "folder",
  SymbolicLink: "link",
  Link: "hard-link",
};

/**
 * Reads a tar archive, also one that is compressed with gzip or zstd, and waits for each entry's work. Throws for an
 * incomplete archive, and for a path that leads out of it.
 */
export async function tarEntries(
  archive: Readable,
  each: (entry: TarEntry, index: number) => Promise<void> | void,
): Promise<void> {
  const parser = new Parser({ strict: true });
  let problem: unknown;
  let index = 0;
  let last: Promise<void> = Promise.resolve();
  const take = (read: ReadEntry) => {
    const at = index++;
    last = last.then(async () => {
      try {
        if (problem === undefined) await each(entryOf(read), at);
      } catch (error) {
        problem ??= error;
      }
      read.resume();
    });
  };
  parser.on("entry", take).on("ignoredEntry", take);
  const ended = new Promise<void>((resolve) => {
    parser.on("end", resolve).on("error", (error: Error) => {
      problem ??= error;
      resolve();
    });
  });
  archive.on("error", (error) => {
    problem ??= error;
    parser.abort(error);
  });
  archive.pipe(parser);
  await ended;
  archive.destroy();
  await last;
  if (problem !== undefined) throw problem;
}

function entryOf(read: ReadEntry): TarEntry {
  const path = posix.normalize(`/${read.path}`).slice(1).replace(/\/$/, "");
  if (read.path.split("/").includes("..")) throw new Error(`the archive's path ${read.path} leads out of it`);
  return {
    type: types[read.type] ?? "other",
    path,
    target: read.linkpath ?? "",
    mode: (read.mode ?? 0o644) & 0o777,
    content: read,
  };
}

/** Writes an entry's content to a new file. */
export async function writeEntry({ content }: TarEntry, path: string, mode: number): Promise<void> {
  await pipeline(Readable.from(content), createWriteStream(path, { flags: "wx", mode }));
}
