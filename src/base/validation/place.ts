import { relative } from "node:path";

/** A place in a file. Lines and columns count from 1. `text` is its name in messages. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/** The place of `offset` (UTF-16 units) in `source`. */
export function placeAt(file: string, source: string, offset: number): Place {
  const before = source.slice(0, Math.max(0, offset));
  const start = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  const mark = start === 0 && source.startsWith("\uFEFF") ? 1 : 0;
  const column = before.length - start - mark + 1;
  return { file, line, column, text: `${file}:${line}:${column}` };
}

/** A file's name in messages: relative to the working folder if it is inside, otherwise absolute. */
export function displayPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") ? path : near;
}
