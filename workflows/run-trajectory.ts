import { ChildWorkflowFailure, executeChild } from "@temporalio/workflow";
import type { LostWorkflow } from "../src/contracts/activities.ts";
import type { TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import { summary } from "../src/run/projections/cut.ts";
import { lossOf, stuck } from "../src/run/projections/lost-workflow.ts";
import { startAttributes } from "../src/run/projections/start-attributes.ts";
import { lostResult } from "../src/run/projections/trajectory-result.ts";
import { schedule } from "./schedule.ts";
import { releaseTools, toolsWithState } from "./tool-activity.ts";

/**
 * Runs a trajectory as a child workflow. `line` describes its task to people. Replaces a workflow of the same
 * trajectory that still runs for an earlier training workflow. The journal keeps the turns that it finished.
 */
export async function runTrajectory(input: TrajectoryInput, line: string): Promise<TrajectoryResult> {
  const startedAt = Date.now();
  try {
    return await executeChild<(input: TrajectoryInput) => Promise<TrajectoryResult>>("trajectory", {
      args: [input],
      workflowId: input.place.id,
      taskQueue: input.queues.orchestration,
      typedSearchAttributes: startAttributes(input),
      staticSummary: summary(line),
      workflowIdReusePolicy: "TERMINATE_IF_RUNNING",
    });
  } catch (error) {
    const lost = error instanceof ChildWorkflowFailure ? lossOf(error.cause) : undefined;
    if (lost === undefined) throw error;
    return lostTrajectory(input, line, { ...lost, startedAt });
  }
}

/** The result of a trajectory whose workflow has none. If its loop did not return, it is recorded as left out. */
export async function lostTrajectory(
  input: TrajectoryInput,
  line: string,
  { type, message: failure, startedAt }: LostWorkflow & { startedAt: number },
): Promise<TrajectoryResult> {
  if (type === stuck) {
    const { place, source, policyVersion, queues } = input;
    await schedule(queues, "record-left-out", { place, source, policyVersion, startedAt, failure });
    const stateful = toolsWithState(input.tools);
    await releaseTools(
      queues,
      place,
      stateful.map((name) => ({ name, holder: undefined })),
    );
  }
  return lostResult(input, line, failure);
}
