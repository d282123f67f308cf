import type { WorkflowHandle } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import type { SearchAttributeName, TrainingInput, TrainingResult } from "../contracts/run.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import type { RunSession } from "./session.ts";
import { workflowResult } from "./workflow-result.ts";

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

/** Waits for the training workflow's end, or the session's. Throws RUN_FAILED with the root cause, TEMPORAL_LOST. */
export function finishTraining(session: RunSession, handle: WorkflowHandle): Promise<TrainingResult> {
  const { run } = session;
  return workflowResult(session, handle, (reason) => new EverturnError("RUN_FAILED", { run, reason }));
}
