import { ActivityFailure, isCancellation, rootCause, setCurrentDetails } from "@temporalio/workflow";
import type { AgentLoop } from "../src/contracts/loop.ts";
import type { Outcome, TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import { failure } from "./failure.ts";
import { type OpenTrajectory, openTrajectory } from "./open-trajectory.ts";
import { schedule } from "./schedule.ts";
import { describeEnd } from "./search-attributes.ts";
import { summary, transcript } from "./transcript.ts";

/**
 * The trajectory workflow, given the agent loops of the bundle by plugin name: turns of the loop, then the score.
 * A failure of the infrastructure past its retries ends it as `left-out`; it never fails its step.
 */
export function trajectoryWorkflow(loops: Record<string, AgentLoop>) {
  return async function trajectory(input: TrajectoryInput): Promise<TrajectoryResult> {
    const loop = loops[input.loop.plugin];
    if (loop === undefined) throw failure("LOOP_NOT_BUNDLED", { loop: input.loop.plugin });
    const startedAt = Date.now();
    const open = openTrajectory(input, (turns) => setCurrentDetails(transcript(promptOf(input), turns)));
    let result: TrajectoryResult;
    try {
      const outcome = await loop(open.context);
      result = await finish(input, open, outcome, startedAt);
    } catch (error) {
      if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
      result = await leftOut(input, open, error, startedAt);
    }
    await open.release();
    describeEnd(result);
    return result;
  };
}

async function finish(
  input: TrajectoryInput,
  open: OpenTrajectory,
  outcome: Outcome,
  startedAt: number,
): Promise<TrajectoryResult> {
  const { place, task, policyVersion, queues } = input;
  const answer = outcome === "answered" ? (open.turns.at(-1)?.action ?? "") : "";
  const finished = { place, task, policyVersion, outcome, answer, startedAt, ...open.state() };
  const score = await schedule(queues, "score-trajectory", finished, summary(`${outcome}: ${answer}`));
  return { ...resultOf(input, open, outcome), reward: score.reward, success: score.success };
}

async function leftOut(
  input: TrajectoryInput,
  open: OpenTrajectory,
  error: ActivityFailure,
  startedAt: number,
): Promise<TrajectoryResult> {
  const { place, task, policyVersion, queues } = input;
  const reason = `${error.activityType}: ${rootCause(error) ?? error.message}`;
  const { toolReward: _, ...reached } = open.state();
  await schedule(queues, "record-left-out", {
    place,
    task,
    policyVersion,
    startedAt,
    failure: reason,
    ...reached,
  });
  return { ...resultOf(input, open, "left-out"), failure: reason };
}

function resultOf(input: TrajectoryInput, open: OpenTrajectory, outcome: Outcome): TrajectoryResult {
  const { turns, head, tokens } = open.state();
  const calls = turns.flatMap((turn) => turn.toolCalls);
  return {
    trajectory: input.place.id,
    task: promptOf(input),
    outcome,
    reward: 0,
    success: false,
    turns,
    head,
    policyVersion: input.policyVersion,
    tokens,
    toolCalls: calls.length,
    validCalls: calls.filter((call) => call.valid).length,
  };
}

function promptOf(input: TrajectoryInput): string {
  return input.task.prompt.at(-1)?.content ?? "";
}
