import { randomUUID } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { persistently } from "../../../base/files/persistently.ts";

/** Largest piece of one system call: a read or write of 2 GiB and more is refused. */
const piece = 2 ** 26;

/** Fills `bytes` with what stands at `position` of a file. Gives false if the file ends before. */
export async function readFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<boolean> {
  for (let done = 0; done < bytes.length; ) {
    const wanted = Math.min(piece, bytes.length - done);
    const { bytesRead } = await file.read(bytes, done, wanted, position + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}

/** Writes all of `bytes` where the file's position is. */
export async function writeFully(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(piece, bytes.length - done));
    done += bytesWritten;
  }
}

/**
 * Makes a file whole or not at all: `fill` writes into a temporary one, which is flushed and takes its name. Where the disk fails, `fill`
 * starts over with another one.
 */
export function writeWholeFile(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  return persistently(() => writeNow(path, fill));
}

async function writeNow(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx");
    try {
      await fill(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await persistently(() => rm(temporary, { force: true })).catch(() => {}); // the first error says more
    throw error;
  }
}
