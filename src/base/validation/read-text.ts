import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { EverturnError } from "../errors/everturn-error.ts";
import { pathError } from "./path-error.ts";
import { displayPath } from "./place.ts";

/**
 * Reads a text file that a person named. Throws PATH_UNUSABLE, and TEXT_ENCODING_WRONG with the first line that is
 * not UTF-8.
 */
export function readText(path: string): string {
  const bytes = readBytes(path);
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const line = firstBadLine(bytes);
  const at = `${displayPath(path)}:${line}`;
  throw new EverturnError("TEXT_ENCODING_WRONG", { at, hint: hintOf(bytes) });
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw pathError(error, path) ?? error;
  }
}

function firstBadLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

function hintOf([first, second]: Buffer): string {
  if (first === 0x1f && second === 0x8b) return "It is compressed by gzip: unpack it first.";
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return `${isUtf16 ? "It is UTF-16. " : ""}Save it as UTF-8 text.`;
}
