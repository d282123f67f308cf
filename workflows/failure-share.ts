import type { ApplicationFailure } from "@temporalio/workflow";
import type { TrajectorySummary } from "../src/contracts/rollout.ts";
import { failure } from "./failure.ts";

/** Longer reasons are cut: their beginning names what failed. */
const reasonLength = 160;

/** How many trajectories infrastructure failed, by reason, the commonest first. */
export function failuresByReason(results: TrajectorySummary[]): [reason: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { outcome, failure: reason = "unknown" } of results) {
    if (outcome !== "left-out") continue;
    const short = reason.slice(0, reasonLength);
    counts.set(short, (counts.get(short) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/**
 * The failure that stops a run when more than the share `maximum` of a step's trajectories were left out. It names
 * the commonest reason. A resumed run tries again what was left out. What a person cancelled is no failure.
 */
export function tooManyFailures(
  { run, step }: { run: string; step: number },
  results: TrajectorySummary[],
  maximum: number | undefined,
): ApplicationFailure | undefined {
  const reasons = failuresByReason(results.filter((result) => !isCancelled(result)));
  const count = reasons.reduce((total, [, times]) => total + times, 0);
  if (maximum === undefined || count === 0 || count <= maximum * results.length) return undefined;
  const [reason, times] = reasons[0] ?? ["unknown", 0];
  if (count === results.length) return failure("BATCH_EMPTY", { run, step, reason });
  const share = `${Math.round(maximum * 100)} %`;
  return failure("TOO_MANY_FAILURES", { run, step, count, of: results.length, share, times, reason });
}

function isCancelled({ failure: reason = "" }: TrajectorySummary): boolean {
  return reason.startsWith("cancelled") || reason === "terminated";
}
