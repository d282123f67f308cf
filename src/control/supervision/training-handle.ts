import type { WorkflowHandle } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { SearchAttributeName, TrainingInput, TrainingResult } from "../../contracts/run.ts";
import type { RunSession } from "./session.ts";
import { workflowResult } from "./workflow-result.ts";

const runAttribute: SearchAttributeName = "EverturnRun";

/**
 * Starts the run's training workflow, or finds the one in progress. That one learns how often its plan was changed,
 * and continues with the newest plan at its next step boundary.
 */
export async function startTraining(
  { run, client, queues }: RunSession,
  planChanges = 0,
): Promise<WorkflowHandle> {
  const input: TrainingInput = { run, queues };
  const options = {
    workflowId: run,
    taskQueue: queues.orchestration,
    args: [input],
    workflowIdConflictPolicy: "USE_EXISTING" as const,
    staticSummary: `training run ${run}`,
    typedSearchAttributes: [{ key: defineSearchAttributeKey(runAttribute, "KEYWORD"), value: run }],
  };
  if (planChanges === 0) return client.workflow.start("training", options);
  const told = { ...options, signal: "plan-changed", signalArgs: [planChanges] };
  return client.workflow.signalWithStart("training", told);
}

/**
 * Waits for the end of the training workflow or of the session. Throws RUN_FAILED with the root cause, and
 * TEMPORAL_LOST.
 */
export function finishTraining(session: RunSession, handle: WorkflowHandle): Promise<TrainingResult> {
  const { run } = session;
  return workflowResult(session, handle, (reason) => new EverturnError("RUN_FAILED", { run, reason }));
}
