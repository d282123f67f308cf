import {
  ServiceError,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from "@temporalio/client";
import { rootCause } from "@temporalio/common";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { reasonOf } from "../temporal/connection-settings.ts";
import type { SupervisedRun } from "./supervised-run.ts";

/**
 * Waits for a workflow's result, or until the supervision fails. Throws the error that `failed` creates from the root cause,
 * TEMPORAL_LOST, TEMPORAL_OTHER_SERVER, and for a joined server TEMPORAL_RUN_FORGOTTEN.
 */
export async function workflowResult<Result>(
  { run, address, client, closing, ui }: SupervisedRun,
  handle: WorkflowHandle,
  failed: (reason: string, cause: unknown) => EverturnError,
): Promise<Result> {
  try {
    return await client.withAbortSignal(closing, () => handle.result());
  } catch (error) {
    if (error instanceof WorkflowFailedError)
      throw failed((rootCause(error.cause) ?? error.message).replace(/\.$/, ""), error.cause);
    if (error instanceof WorkflowNotFoundError) {
      const isJoined = ui === undefined;
      throw isJoined
        ? new EverturnError("TEMPORAL_RUN_FORGOTTEN", { run, address })
        : new EverturnError("TEMPORAL_OTHER_SERVER", { address });
    }
    if (error instanceof ServiceError) {
      throw new EverturnError("TEMPORAL_LOST", { run, address, reason: reasonOf(error.cause ?? error) });
    }
    throw error;
  }
}
