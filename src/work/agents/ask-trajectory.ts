import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ErrorCode } from "../../base/errors/table.ts";
import type { SessionAnswer, SessionRequest } from "../../contracts/session.ts";

/** The maximum milliseconds before a request is sent again. */
const longestPause = 2000;

/**
 * Asks a trajectory's workflow for the action that answers a request. A request that is repeated after an
 * outage of the server or a worker is the same update, so its action is generated once. Rejects with
 * SESSION_ENDED, or with the signal's reason.
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

function mayBeAskedAgain(error: unknown): boolean {
  return (
    failureType(error) === ("SESSION_MOVED" satisfies ErrorCode) ||
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    isGrpcServiceError(error)
  );
}

function failureType(error: unknown): string | null | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure ? cause.type : undefined;
}
