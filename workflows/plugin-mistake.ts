import { ApplicationFailure } from "@temporalio/workflow";
import type { ErrorCode } from "../src/base/errors/table.ts";
import type { TrajectoryResult } from "../src/contracts/trajectory.ts";
import { withSource } from "./cut-reason.ts";

/**
 * Mistakes in a plugin's own text, and software missing on the machine. A retry does not help, and every
 * trajectory would meet them.
 */
const mistakes: readonly ErrorCode[] = [
  "PLUGIN_BROKEN",
  "PLUGIN_ANSWER_INVALID",
  "PLUGIN_ENTRY_FAILED",
  "PLUGIN_EXPORT_INVALID",
  "NATIVE_FILES_MISSING",
];

/** Returns the plugin's mistake that caused an error. Undefined if the error has another cause. */
export function mistakeIn(error: unknown): TrajectoryResult["mistake"] {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof ApplicationFailure)) continue;
    const code = mistakes.find((one) => cause instanceof ApplicationFailure && cause.type === one);
    if (code !== undefined) return { code, message: cause.message };
  }
  return undefined;
}

/** Returns the failure that ends the run because of a trajectory's mistake. Undefined if it has none. */
export function endOfRun({
  mistake,
  trajectory,
}: Pick<TrajectoryResult, "mistake" | "trajectory">): ApplicationFailure | undefined {
  if (mistake === undefined) return undefined;
  const message = withSource(mistake.message, trajectory);
  return ApplicationFailure.create({ type: mistake.code, message, nonRetryable: true });
}
