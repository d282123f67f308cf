import { ChildWorkflowFailure, executeChild, TerminatedFailure } from "@temporalio/workflow";
import type { TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import { inLanes } from "./in-lanes.ts";
import { startAttributes } from "./search-attributes.ts";
import { summary } from "./transcript.ts";

/**
 * Runs each trajectory as a child workflow, at most `concurrency` at once; results in the order of `inputs`.
 * `onDone` is told of each that has ended.
 */
export function runTrajectories(
  inputs: TrajectoryInput[],
  concurrency: number,
  onDone: (result: TrajectoryResult, input: TrajectoryInput) => void,
): Promise<TrajectoryResult[]> {
  return inLanes(inputs, concurrency, async (input) => {
    const result = await runTrajectory(input);
    onDone(result, input);
    return result;
  });
}

/**
 * Of an asynchronous run, a trajectory may still run that an earlier training workflow started: it gives way, and
 * what it finished is in the journal.
 */
async function runTrajectory(input: TrajectoryInput): Promise<TrajectoryResult> {
  try {
    return await executeChild<(input: TrajectoryInput) => Promise<TrajectoryResult>>("trajectory", {
      args: [input],
      workflowId: input.place.id,
      taskQueue: input.queues.orchestration,
      typedSearchAttributes: startAttributes(input),
      staticSummary: summary(input.task.prompt.at(-1)?.content ?? input.place.task),
      ...(input.newest === true ? { workflowIdReusePolicy: "TERMINATE_IF_RUNNING" } : {}),
    });
  } catch (error) {
    if (error instanceof ChildWorkflowFailure && error.cause instanceof TerminatedFailure)
      return terminated(input);
    throw error;
  }
}

/** Somebody terminated the workflow, which could not record its end itself. */
function terminated({ place, task, policyVersion }: TrajectoryInput): TrajectoryResult {
  return {
    trajectory: place.id,
    task: task.prompt.at(-1)?.content ?? "",
    outcome: "left-out",
    failure: "terminated",
    ...{ reward: 0, success: false, turns: [], turnCount: 0, head: null, generationSeconds: 0 },
    ...{ policyVersion, newestPolicyVersion: policyVersion, toolCalls: 0, validCalls: 0 },
    tokens: { prompt: 0, action: 0, observation: 0 },
  };
}
