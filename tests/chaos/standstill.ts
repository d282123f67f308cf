import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds without progress after which a run has failed: many times what a record takes on a busy machine. */
const longest = 300_000;

/** Milliseconds between two looks. */
const tick = 500;

/**
 * Throws when what `reached` counts has stayed the same for `limit` ms, with what stood still and the last lines of `log`.
 * Returns when `ended` aborts.
 */
export async function failOnStandstill(options: {
  what: string;
  reached: () => number;
  log: string;
  ended: AbortSignal;
  limit?: number;
}): Promise<void> {
  const { what, reached, log, ended, limit = longest } = options;
  let count = reached();
  let since = Date.now();
  while (!ended.aborted) {
    await sleep(tick, undefined, { signal: ended }).catch(() => {}); // it ended
    const now = reached();
    if (now !== count) since = Date.now();
    count = now;
    if (ended.aborted || Date.now() - since < limit) continue;
    const said = readFileSync(log, "utf8").trimEnd().split("\n").slice(-5).join("\n  ");
    throw new Error(
      `${what} stands still: no progress for ${limit / 1000} s after ${count} records and strikes. The command said last:\n  ${said}`,
    );
  }
}
