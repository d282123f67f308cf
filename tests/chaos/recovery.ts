import type { SeenFile } from "./progress-log.ts";
import { type Kind, victims } from "./victims.ts";

/** A process killed, or stopped for a while, and how the run came back from it; times in milliseconds since 1970. */
export interface Strike {
  action: "kill" | "stop";
  kind: Kind;
  time: number;
  pids: number[];
  scenario: string;
  run: string;
  /** When what was struck was there again: replaced by another process, or let go on. */
  replaced?: number;
  /** When the run made progress of its kind after that, or ended well. */
  recovered?: number;
  /** The run ended with an error before that, and had to be resumed. */
  gaveUp?: true;
}

/** Strikes that nobody recovered from. */
export function unrecovered(strikes: readonly Strike[]): Strike[] {
  return strikes.filter(({ recovered, gaveUp }) => recovered === undefined || gaveUp === true);
}

/** What progress shows that a kind works again: turns, tool calls, or anything. */
const progressOf: Partial<Record<Kind, RegExp>> = {
  policy: /\/turn-\d+\.json$/,
  tools: /-call-\d+\.json$/,
  "tool host": /-call-1\.json$/,
  "plugin host": /-call-\d+\.json$/,
  sandbox: /-call-\d+\.json$/,
};

/** Notes in `strike` that its victim is there again, and later that the run got further since. */
export function observeRecovery(strike: Strike, mark: string, files: SeenFile[]): void {
  if (strike.recovered !== undefined) return;
  const { replaced } = strike;
  if (replaced === undefined) {
    const kind = strike.kind === "everything" ? "cli" : strike.kind;
    const isThere = victims(kind, mark).some(({ pid }) => !strike.pids.includes(pid));
    if (isThere) strike.replaced = Date.now();
    return;
  }
  const pattern = progressOf[strike.kind] ?? /./;
  const found = files.findLast(({ path, time }) => time > replaced && pattern.test(path));
  if (found !== undefined) strike.recovered = found.time;
}
