import { lastLine, putLines, readLines } from "../../base/files/line-file.ts";
import { patiently } from "../../base/files/patiently.ts";
import type { RunFolder } from "./run-folder.ts";

/**
 * A line of `sessions.jsonl`: when the workers of a run with its own server began to work, or had stopped. Times in ms
 * since 1970.
 */
export type SessionLine = { begin: number } | { end: number };

/** Records that the workers of a run have begun to work. */
export async function beginSession({ sessions }: Pick<RunFolder, "sessions">): Promise<void> {
  const last = await patiently(() => lastLine<SessionLine>(sessions));
  await append(sessions, { begin: Date.now() }, last?.end);
}

/** Records that the workers of a run stopped at `time`. Does nothing if that is already recorded. */
export async function endSession({ sessions }: Pick<RunFolder, "sessions">, time: number): Promise<void> {
  const last = await patiently(() => lastLine<SessionLine>(sessions));
  if (last === undefined || "end" in last.line) return;
  await append(sessions, { end: Math.max(time, last.line.begin) }, last.end);
}

function append(path: string, line: SessionLine, position = 0): Promise<void> {
  return patiently(() => putLines(path, [JSON.stringify(line)], position));
}

/** Reads a run's sessions and returns a function that computes for how many ms between two times nothing worked on it. */
export async function readStops({
  sessions,
}: Pick<RunFolder, "sessions">): Promise<(from: number, to: number) => number> {
  const stops: { from: number; to: number }[] = [];
  let stopped: number | undefined;
  for (const line of await patiently(() => readLines<SessionLine>(sessions))) {
    if ("end" in line) stopped = line.end;
    else if (stopped !== undefined) stops.push({ from: stopped, to: line.begin });
  }
  return (from, to) =>
    stops.reduce((sum, stop) => sum + Math.max(0, Math.min(to, stop.to) - Math.max(from, stop.from)), 0);
}
