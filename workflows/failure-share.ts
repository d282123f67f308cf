import type { ApplicationFailure } from "@temporalio/workflow";
import type { TrajectorySummary } from "../src/contracts/rollout.ts";
import { withSource } from "./cut-reason.ts";
import { failure } from "./failure.ts";

/** Counts the trajectories that failures of the infrastructure ended, by reason, the most common first. */
export function failuresByReason(results: TrajectorySummary[]): [reason: string, count: number][] {
  const counts = new Map<string, number>();
  for (const result of results) {
    if (result.outcome !== "left-out") continue;
    const reason = reasonOf(result);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** The most common reason why trajectories were left out, with their number and an example. */
function commonestFailure(results: TrajectorySummary[]) {
  const [[reason, times] = ["unknown", 0]] = failuresByReason(results);
  const example = results.find((result) => result.outcome === "left-out" && reasonOf(result) === reason);
  const trajectory = example?.trajectory ?? "none";
  return { reason: withSource(reason, trajectory).replace(/\.$/, ""), times, trajectory };
}

/** Describes why all of these trajectories were left out. */
export function reasonOfAll(results: TrajectorySummary[]): string {
  if (results.length === 0) return "it has no tasks";
  const { reason, times, trajectory } = commonestFailure(results);
  return `${times} of ${results.length}, such as ${trajectory}: ${reason}`;
}

/**
 * Returns the failure that stops a run when more than the share `maximum` of a step's trajectories were left
 * out. It names the most common reason. A resumed run retries the trajectories that were left out.
 * Trajectories that a person cancelled don't count as failures.
 */
export function tooManyFailures(
  { run, step }: { run: string; step: number },
  results: TrajectorySummary[],
  maximum: number | undefined,
): ApplicationFailure | undefined {
  const failed = results.filter((result) => result.outcome === "left-out" && !isCancelled(result));
  const count = failed.length;
  if (maximum === undefined || count === 0 || count <= maximum * results.length) return undefined;
  if (count === results.length) return failure("BATCH_EMPTY", { run, step, reason: reasonOfAll(results) });
  const share = `${Math.round(maximum * 100)} %`;
  const commonest = commonestFailure(failed);
  return failure("TOO_MANY_FAILURES", { run, step, count, of: results.length, share, ...commonest });
}

/**
 * Returns the failure that stops an evaluation if none of its trajectories finished, because it has no
 * accuracy then. Trajectories that a person cancelled don't count as failures.
 */
export function nothingFinished(
  { run, evaluation }: { run: string; evaluation: string },
  results: TrajectorySummary[],
): ApplicationFailure | undefined {
  const hasFailed = results.every(({ outcome }) => outcome === "left-out") && !results.every(isCancelled);
  return hasFailed
    ? failure("EVALUATION_EMPTY", { run, evaluation, reason: reasonOfAll(results) })
    : undefined;
}

function reasonOf({ failure: reason = "unknown" }: TrajectorySummary): string {
  return reason;
}

function isCancelled({ failure: reason = "" }: TrajectorySummary): boolean {
  return reason.startsWith("cancelled") || reason === "terminated";
}
