import {
  ApplicationFailure,
  ChildWorkflowFailure,
  executeChild,
  TerminatedFailure,
} from "@temporalio/workflow";
import type { TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import type { ErrorCode } from "../src/errors/table.ts";
import { inLanes } from "./in-lanes.ts";
import { endOfRun } from "./plugin-mistake.ts";
import { schedule } from "./schedule.ts";
import { startAttributes } from "./search-attributes.ts";
import { summary } from "./transcript.ts";

/**
 * Runs each trajectory as a child workflow, at most `concurrency` at once; results in the order of `inputs`.
 * `onDone` is told of each that has ended. Throws the mistake of a plugin that one of them met.
 */
export function runTrajectories(
  inputs: TrajectoryInput[],
  concurrency: number,
  onDone: (result: TrajectoryResult, input: TrajectoryInput) => void,
): Promise<TrajectoryResult[]> {
  return inLanes(inputs, concurrency, async (input) => {
    const result = await runTrajectory(input);
    onDone(result, input);
    const end = input.newest === true ? undefined : endOfRun(result); // an asynchronous run is told
    if (end !== undefined) throw end;
    return result;
  });
}

/**
 * Of an asynchronous run, a trajectory may still run that an earlier training workflow started: it gives way, and
 * what it finished is in the journal.
 */
async function runTrajectory(input: TrajectoryInput): Promise<TrajectoryResult> {
  const startedAt = Date.now();
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
    const cause = error instanceof ChildWorkflowFailure ? error.cause : undefined;
    if (cause instanceof TerminatedFailure) return lost(input, "terminated");
    if (!(cause instanceof ApplicationFailure) || cause.type !== stuck) throw error;
    const { place, task, policyVersion, queues } = input;
    const failure = cause.message;
    await schedule(queues, "record-left-out", { place, task, policyVersion, startedAt, failure });
    const tools = input.tools.filter((tool) => tool.stateful).map((tool) => tool.definition.name);
    if (tools.length > 0) await schedule(queues, "release-tools", { place, tools });
    return lost(input, failure);
  }
}

/** What a worker ends a trajectory with whose loop does not return (src/temporal/loop-watch.ts). */
const stuck: ErrorCode = "LOOP_STUCK";

/** The workflow could not say itself how it ended. */
function lost({ place, task, policyVersion }: TrajectoryInput, failure: string): TrajectoryResult {
  return {
    trajectory: place.id,
    task: task.prompt.at(-1)?.content ?? "",
    outcome: "left-out",
    failure,
    ...{ reward: 0, success: false, turns: [], turnCount: 0, head: null, generationSeconds: 0 },
    ...{ policyVersion, newestPolicyVersion: policyVersion, toolCalls: 0, validCalls: 0 },
    tokens: { prompt: 0, action: 0, observation: 0 },
  };
}
