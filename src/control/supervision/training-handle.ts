import type { WorkflowHandle } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { SearchAttributeName, TrainingInput, TrainingResult } from "../../contracts/run.ts";
import type { RunSession } from "./session.ts";
import { workflowResult } from "./workflow-result.ts";

const runAttribute: SearchAttributeName = "EverturnRun";

/**
 * Starts the run's training workflow, or finds the one that is under way; that one is told how often its plan was changed,
 * and goes on by the newest at its next step boundary.
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

/** Waits for the training workflow's end, or the session's. Throws RUN_FAILED with the root cause, TEMPORAL_LOST. */
export function finishTraining(session: RunSession, handle: WorkflowHandle): Promise<TrainingResult> {
  const { run } = session;
  return workflowResult(session, handle, (reason) => new EverturnError("RUN_FAILED", { run, reason }));
}
