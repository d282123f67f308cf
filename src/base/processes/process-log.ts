import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

/** The lines that one of Everturn's processes adds to its log from now on. */
export interface ProcessLog {
  path: string;
  text(): string;
  /** The first lines: a panic prints its stack after them. */
  reason(): string;
  /** The last lines. */
  tail(): string;
  /** Adds a message of the operating system. */
  note(text: string): void;
}

const tailLines = 5;

/** Follows the log at `path`, and creates it if it does not exist. */
export function processLog(path: string): ProcessLog {
  const size = sizeOf(path);
  const notes: string[] = [];
  const text = () => [...notes, textSince(path, size)].join("\n");
  const lines = () =>
    text()
      .split("\n")
      .filter((line) => line.trim() !== "");
  return {
    path,
    text,
    reason: () => lines().slice(0, 2).join(" / ") || "no output",
    tail: () => lines().slice(-tailLines).join("\n") || "(it wrote nothing)",
    note: (note) => void notes.push(note),
  };
}

function sizeOf(path: string): number {
  const file = openSync(path, "a");
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}

/**
 * The text after an offset. If the disk does not answer, the report of how the process ended goes out without it.
 */
function textSince(path: string, size: number): string {
  try {
    return readFileSync(path).subarray(size).toString("utf8");
  } catch (error) {
    return `(${path} can't be read: ${String(error)})`;
  }
}
