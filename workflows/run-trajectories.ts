import { executeChild } from "@temporalio/workflow";
import type { TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import { startAttributes } from "./search-attributes.ts";
import { summary } from "./transcript.ts";

/**
 * Runs each trajectory as a child workflow, at most `concurrency` at once; results in the order of `inputs`.
 * `onDone` is told how many have finished.
 */
export async function runTrajectories(
  inputs: TrajectoryInput[],
  concurrency: number,
  onDone: (finished: number) => void,
): Promise<TrajectoryResult[]> {
  const results: TrajectoryResult[] = [];
  let next = 0;
  let finished = 0;
  async function lane(): Promise<void> {
    while (next < inputs.length) {
      const index = next++;
      const input = inputs[index];
      if (input === undefined) return;
      results[index] = await runTrajectory(input);
      onDone(++finished);
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, inputs.length) }, lane));
  return results;
}

function runTrajectory(input: TrajectoryInput): Promise<TrajectoryResult> {
  return executeChild<(input: TrajectoryInput) => Promise<TrajectoryResult>>("trajectory", {
    args: [input],
    workflowId: input.place.id,
    taskQueue: input.queues.orchestration,
    typedSearchAttributes: startAttributes(input),
    staticSummary: summary(input.task.prompt.at(-1)?.content ?? input.place.task),
  });
}
