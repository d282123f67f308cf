import { WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { defineSearchAttributeKey, rootCause } from "@temporalio/common";
import type { SearchAttributeName, TrainingInput, TrainingResult } from "../contracts/run.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import type { RunSession } from "./session.ts";

const runAttribute: SearchAttributeName = "EverturnRun";

/** Starts the run's training workflow, or finds the one that is under way. */
export async function startTraining({ run, client, queues }: RunSession): Promise<WorkflowHandle> {
  const input: TrainingInput = { run, queues };
  return client.workflow.start("training", {
    workflowId: run,
    taskQueue: queues.orchestration,
    args: [input],
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: `training run ${run}`,
    typedSearchAttributes: [{ key: defineSearchAttributeKey(runAttribute, "KEYWORD"), value: run }],
  });
}

/** Waits for the training workflow's end, or the session's. Throws RUN_FAILED with the root cause. */
export async function finishTraining(
  { run, client, closing }: RunSession,
  handle: WorkflowHandle,
): Promise<TrainingResult> {
  try {
    return await client.withAbortSignal(closing, () => handle.result());
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const reason = rootCause(error.cause) ?? error.message;
    throw new EverturnError("RUN_FAILED", { run, reason }, { cause: error });
  }
}
