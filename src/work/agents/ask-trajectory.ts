import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ErrorCode } from "../../base/errors/table.ts";
import type { SessionAnswer, SessionRequest } from "../../contracts/session.ts";

/** The longest pause in milliseconds before a request is sent again. */
const longestPause = 2000;

/**
 * Asks a trajectory's workflow for the action that answers a request. A request that is repeated after an
 * outage or an overload of the server or a worker is the same update, so its action is generated once. Rejects
 * with SESSION_ENDED, or with the signal's reason.
 */
export function askTrajectory(
  client: Client,
  trajectory: string,
  signal: AbortSignal,
): (request: SessionRequest) => Promise<SessionAnswer> {
  const handle = client.workflow.getHandle(trajectory);
  return async (request) => {
    for (let pause = 50; ; pause = Math.min(longestPause, pause * 2)) {
      signal.throwIfAborted();
      try {
        return await handle.executeUpdate<SessionAnswer, [SessionRequest]>("generate", {
          args: [request],
          updateId: request.key,
        });
      } catch (error) {
        if (hasEnded(error)) throw new EverturnError("SESSION_ENDED", { trajectory }, { cause: error });
        if (!mayBeAskedAgain(error)) throw error;
      }
      await sleep(pause, undefined, { signal });
    }
  };
}

function hasEnded(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError || failureType(error) === ("SESSION_ENDED" satisfies ErrorCode)
  );
}

/** gRPC's status codes of calls that fail each time: they are invalid, forbidden, unknown or without credentials. */
const lastingCodes: readonly number[] = [3, 7, 12, 16];

/**
 * Whether the request may succeed later. A server that is down, busy or just restarting rejects it, and so does one
 * whose workers are too busy to finish the trajectory's workflow tasks in time.
 */
function mayBeAskedAgain(error: unknown): boolean {
  const type = failureType(error);
  if (type === ("SESSION_MOVED" satisfies ErrorCode) || type === closedMeanwhile) return true;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && !lastingCodes.includes(cause.code) && !cause.details.includes(tooLarge);
}

/** Temporal's failure of an update whose workflow ended, or continued as new, before it answered. */
const closedMeanwhile = "AcceptedUpdateCompletedWorkflow";

/** In the details of a request that exceeds the size that gRPC transfers. */
const tooLarge = "larger than max";

function failureType(error: unknown): string | null | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure ? cause.type : undefined;
}
