import type { WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure, defineSearchAttributeKey } from "@temporalio/common";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isObject } from "../../contracts/json.ts";
import type { SearchAttributeName, TrainingInput, TrainingResult } from "../../contracts/run.ts";
import type { SupervisedRun } from "./supervised-run.ts";
import { workflowResult } from "./workflow-result.ts";

const runAttribute: SearchAttributeName = "EverturnRun";

/**
 * Starts the run's training workflow, or finds the one in progress. That one learns how often its plan was changed,
 * and continues with the newest plan at its next step boundary.
 */
export async function startTraining(
  { run, client, queues, priority }: SupervisedRun,
  planChanges = 0,
): Promise<WorkflowHandle> {
  const input: TrainingInput = { run, queues };
  const options = {
    workflowId: run,
    priority,
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
 * Waits until the training workflow ends or the supervision fails. Throws RUN_STOPPED if a condition of `stopIf` ended the run,
 * RUN_FAILED with the root cause of any other failure, and TEMPORAL_LOST.
 */
export function finishTraining(supervised: SupervisedRun, handle: WorkflowHandle): Promise<TrainingResult> {
  const { run } = supervised;
  const failed = (reason: string, cause: unknown) =>
    stopped(run, cause) ?? new EverturnError("RUN_FAILED", { run, reason });
  return workflowResult(supervised, handle, failed);
}

function stopped(run: string, cause: unknown): EverturnError | undefined {
  if (!(cause instanceof ApplicationFailure) || cause.type !== "RUN_STOPPED") return undefined;
  const [details] = cause.details ?? [];
  if (!isObject(details)) return undefined;
  const text = (key: string) => String(details[key]);
  return new EverturnError("RUN_STOPPED", {
    run,
    step: text("step"),
    condition: text("condition"),
    evidence: text("evidence"),
    remedy: text("remedy"),
  });
}
