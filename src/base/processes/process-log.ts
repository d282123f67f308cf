import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

/** What a process of ours writes to its log, from now on. */
export interface ProcessLog {
  path: string;
  text(): string;
  /** Its first lines: a panic follows them with its stack. */
  reason(): string;
  /** Its last lines. */
  tail(): string;
  /** Adds what the operating system said. */
  note(text: string): void;
}

const tailLines = 5;

/** Follows the log at `path`, which is made if it is not there. */
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

/** What was written after a place; a disk that does not answer keeps nobody from telling how the process ended. */
function textSince(path: string, size: number): string {
  try {
    return readFileSync(path).subarray(size).toString("utf8");
  } catch (error) {
    return `(${path} can't be read: ${String(error)})`;
  }
}
