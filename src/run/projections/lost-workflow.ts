import { ApplicationFailure, TerminatedFailure } from "@temporalio/common";
import type { ErrorCode } from "../../base/errors/table.ts";
import type { LostWorkflow } from "../../contracts/activities.ts";

/** The error with which a worker ends a trajectory whose loop does not return (src/control/temporal/loop-watch.ts). */
export const stuck = "LOOP_STUCK" satisfies ErrorCode;

/** Why a trajectory's workflow failed without a result. Undefined if `cause` is another failure. */
export function lossOf(cause: unknown): LostWorkflow | undefined {
  if (cause instanceof TerminatedFailure) return { type: "terminated", message: "terminated" };
  if (cause instanceof ApplicationFailure && cause.type === stuck)
    return { type: stuck, message: cause.message };
  return undefined;
}
