import type { SeenFile } from "./progress-log.ts";
import { type Kind, victims } from "./victims.ts";

/** A kill, and how the run came back from it; times in milliseconds since 1970. */
export interface Kill {
  kind: Kind;
  time: number;
  pids: number[];
  run: string;
  /** When what was killed was there again. */
  replaced?: number;
  /** When the run made progress of its kind after that. */
  recovered?: number;
}

/** What progress shows that a kind works again: turns, tool calls, or anything. */
const progressOf: Partial<Record<Kind, RegExp>> = {
  policy: /\/turn-\d+\.json$/,
  tools: /-call-\d+\.json$/,
  "tool host": /-call-1\.json$/,
};

/** Notes in `kill` that its victim is there again, and later that the run got further since. */
export function observeRecovery(kill: Kill, mark: string, files: SeenFile[]): void {
  if (kill.recovered !== undefined) return;
  const { replaced } = kill;
  if (replaced === undefined) {
    const kind = kill.kind === "everything" ? "cli" : kill.kind;
    const isThere = victims(kind, mark).some(({ pid }) => !kill.pids.includes(pid));
    if (isThere) kill.replaced = Date.now();
    return;
  }
  const pattern = progressOf[kill.kind] ?? /./;
  const found = files.findLast(({ path, time }) => time > replaced && pattern.test(path));
  if (found !== undefined) kill.recovered = found.time;
}
