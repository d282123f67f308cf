import { randomUUID } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { persistently } from "../../../base/files/persistently.ts";

/** Most bytes per system call. The system rejects reads and writes of 2 GiB and more. */
const piece = 2 ** 26;

/** Fills `bytes` from `position` of a file. Returns false if the file ends before. */
export async function readFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<boolean> {
  for (let done = 0; done < bytes.length; ) {
    const wanted = Math.min(piece, bytes.length - done);
    const { bytesRead } = await file.read(bytes, done, wanted, position + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}

/** Writes all of `bytes` at the file's current position. */
export async function writeFully(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, Math.min(piece, bytes.length - done));
    done += bytesWritten;
  }
}

/**
 * Writes a file atomically. `fill` writes into a temporary file, which is flushed and renamed. After a disk error,
 * `fill` starts over with another file.
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
    await persistently(() => rm(temporary, { force: true })).catch(() => {}); // the first error is more informative
    throw error;
  }
}
