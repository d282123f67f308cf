import { readSync } from "node:fs";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";

/** Bytes to read from the file at a time. */
const windowBytes = 2 ** 20;

/** Reads consecutive little-endian values of a file. */
export interface Cursor {
  readonly path: string;
  /** The file's size. */
  readonly size: number;
  /** Where the next value begins. */
  position(): number;
  /** Returns the next `length` bytes, which are valid until the next call. `what` names them in errors. */
  take(length: number, what: string): Buffer;
}

/** Returns a cursor at the beginning of an open file of `size` bytes. `take` throws GGUF_INVALID past the end. */
export function openCursor(path: string, descriptor: number, size: number): Cursor {
  let window = Buffer.alloc(0);
  let start = 0;
  let position = 0;
  const fill = (length: number) => {
    window = Buffer.alloc(Math.min(size - position, Math.max(windowBytes, length)));
    start = position;
    for (let done = 0; done < window.length; ) {
      const read = readSync(descriptor, window, done, window.length - done, start + done);
      if (read === 0) throw invalidGguf(path, "it was cut while it was read");
      done += read;
    }
  };
  return {
    path,
    size,
    position: () => position,
    take(length, what) {
      if (length > size - position) throw invalidGguf(path, `it ends inside ${what}, at byte ${size}`);
      if (position + length > start + window.length) fill(length);
      const bytes = window.subarray(position - start, position - start + length);
      position += length;
      return bytes;
    },
  };
}

/** Reads a 32-bit unsigned number. */
export function takeUint32(cursor: Cursor, what: string): number {
  return cursor.take(4, what).readUInt32LE();
}

/** Reads a 64-bit unsigned number. Throws GGUF_INVALID if a double can't hold it. */
export function takeUint64(cursor: Cursor, what: string): number {
  return safeNumber(cursor, cursor.take(8, what).readBigUInt64LE(), what);
}

/** Reads a text: its length in 64 bits, then UTF-8. */
export function takeString(cursor: Cursor, what: string): string {
  return cursor.take(takeUint64(cursor, what), what).toString("utf8");
}

/** Returns `value` as a number. Throws GGUF_INVALID if that would change it. */
export function safeNumber(cursor: Cursor, value: bigint, what: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw invalidGguf(cursor.path, `${what} is ${value}, which can't be`);
  return number;
}

/** Returns the error GGUF_INVALID. */
export function invalidGguf(path: string, reason: string): EverturnError {
  return new EverturnError("GGUF_INVALID", { path, reason });
}
