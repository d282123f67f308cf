import type { WorkflowHandle } from "@temporalio/client";
import { defineSearchAttributeKey } from "@temporalio/common";
import type { SearchAttributeName } from "../../contracts/run.ts";
import type { TrajectoryInput } from "../../contracts/trajectory.ts";
import type { SupervisedRun } from "./supervised-run.ts";

/** Starts a trajectory that belongs to no step or evaluation: a fork. */
export function startTrajectory({ client }: SupervisedRun, input: TrajectoryInput): Promise<WorkflowHandle> {
  const { id, run, stage, task } = input.place;
  const keyword = (name: SearchAttributeName, value: string) => ({
    key: defineSearchAttributeKey(name, "KEYWORD"),
    value,
  });
  return client.workflow.start("trajectory", {
    workflowId: id,
    taskQueue: input.queues.orchestration,
    args: [input],
    workflowIdConflictPolicy: "USE_EXISTING", // begun before its server moved to another port
    staticSummary: `fork of ${input.origin?.trajectory} after turn ${input.origin?.turns}`.slice(0, 200),
    typedSearchAttributes: [
      keyword("EverturnRun", run),
      keyword("EverturnStage", stage),
      keyword("EverturnTask", task),
    ],
  });
}
