import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

/** What a server writes to its log, from now on. */
export interface ServerLog {
  path: string;
  text(): string;
  /** Its first lines: a panic follows them with its stack. */
  reason(): string;
  /** Adds what the operating system said. */
  note(text: string): void;
}

/** Follows the log at `path`, which is made if it is not there. */
export function serverLog(path: string): ServerLog {
  const file = openSync(path, "a");
  const { size } = fstatSync(file);
  closeSync(file);
  const notes: string[] = [];
  const text = () => [...notes, readFileSync(path).subarray(size).toString("utf8")].join("\n");
  return {
    path,
    text,
    reason: () => text().trim().split("\n").slice(0, 2).join(" / ") || "no output",
    note: (note) => void notes.push(note),
  };
}
