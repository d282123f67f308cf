import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import { Mistake } from "./mistake.ts";
import { type TreeLimits, treePath } from "./tree.ts";

/** Bytes of an archive per file in addition to its content: headers, long names, padding. */
const besides = 4096;
const regular = new Set(["File", "OldFile", "ContiguousFile"]);

/**
 * Returns the content of a .tar, or of a .tar.gz if `isPacked`. Throws Mistake if it is larger than any files
 * within the limits need, without reading further.
 */
export async function readArchive(
  file: string,
  isPacked: boolean,
  { files, bytes }: TreeLimits,
  signal: AbortSignal,
): Promise<Buffer> {
  const most = bytes + (2 * files + 16) * besides;
  const chunks: Buffer[] = [];
  let length = 0;
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const chunk of source) {
      length += chunk.length;
      if (length > most) throw new Mistake(`it holds more than ${files} files of ${bytes} bytes in all`);
      chunks.push(chunk);
    }
  };
  const read = createReadStream(file);
  await (isPacked
    ? pipeline(read, createGunzip(), collect, { signal })
    : pipeline(read, collect, { signal }));
  return Buffer.concat(chunks, length);
}

/**
 * Returns the files of a tar archive. Throws Mistake, with the entry's name, for an entry that is neither a
 * file nor a folder, for a path outside the workspace, and for a repeated path. Also throws Mistake for an
 * incomplete archive.
 */
export function unpacked(archive: Buffer): [string, Uint8Array][] {
  const files = new Map<string, Buffer[]>();
  let problem: Error | undefined;
  let isWhole = false;
  const parser = new Parser({ strict: true, gzip: false, brotli: false, zstd: false });
  const take = (entry: ReadEntry) => {
    try {
      if (entry.type !== "Directory") add(files, entry);
    } catch (error) {
      problem ??= error instanceof Error ? error : new Error(String(error));
    }
    entry.resume();
  };
  parser.on("entry", take).on("ignoredEntry", take);
  parser.on("error", (error: Error) => {
    problem ??= new Mistake(`it is not a complete tar archive: ${error.message}`);
  });
  parser.on("eof", () => {
    isWhole = true;
  });
  parser.end(archive);
  if (problem !== undefined) throw problem;
  if (!isWhole) throw new Mistake("it is not a complete tar archive: its end is missing");
  return [...files].map(([path, chunks]) => [path, Buffer.concat(chunks)]);
}

function add(files: Map<string, Buffer[]>, entry: ReadEntry): void {
  if (!regular.has(entry.type))
    throw new Mistake(`${entry.path} is a ${entry.type}; a workspace has files alone`);
  const path = treePath(entry.path);
  if (files.has(path)) throw new Mistake(`${path} is in it twice`);
  const chunks: Buffer[] = [];
  files.set(path, chunks);
  entry.on("data", (chunk: Buffer) => chunks.push(chunk));
}
