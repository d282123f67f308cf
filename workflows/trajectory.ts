import { ActivityFailure, isCancellation, log, rootCause, setCurrentDetails } from "@temporalio/workflow";
import type { AgentLoop } from "../src/contracts/loop.ts";
import type { Outcome, TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import { failure } from "./failure.ts";
import { type OpenTrajectory, openTrajectory } from "./open-trajectory.ts";
import { schedule } from "./schedule.ts";
import { describeEnd } from "./search-attributes.ts";
import { summary, transcript } from "./transcript.ts";

/**
 * The trajectory workflow, given the agent loops of the bundle by plugin name: turns of the loop, then the score.
 * A failure of the infrastructure past its retries, or of the loop itself, ends it as `left-out`; it never fails its
 * step.
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
      if (isCancellation(error) || !(error instanceof Error)) throw error;
      result = await leftOut(input, open, failureText(input, error), startedAt);
    }
    await release(open);
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
  const options = { summary: summary(`${outcome}: ${answer}`), isQuick: true };
  const score = await schedule(queues, "score-trajectory", finished, options);
  return { ...resultOf(input, open, outcome), reward: score.reward, success: score.success };
}

async function leftOut(
  input: TrajectoryInput,
  open: OpenTrajectory,
  reason: string,
  startedAt: number,
): Promise<TrajectoryResult> {
  const { place, task, policyVersion, queues } = input;
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

/** A plain error of the loop would retry the workflow task for ever: its code is frozen with the run. */
function failureText(input: TrajectoryInput, error: Error): string {
  if (error instanceof ActivityFailure) return `${error.activityType}: ${rootCause(error) ?? error.message}`;
  return `${input.loop.plugin}: ${error.message}`;
}

/** The trajectory is finished by now: a tool that can't be released costs what it holds, not the trajectory. */
async function release(open: OpenTrajectory): Promise<void> {
  try {
    await open.release();
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    log.warn("a tool was not released", { reason: rootCause(error) ?? error.message });
  }
}

function resultOf(input: TrajectoryInput, open: OpenTrajectory, outcome: Outcome): TrajectoryResult {
  const { turns, head, tokens } = open.state();
  const calls = turns.flatMap((turn) => turn.toolCalls);
  const turnRewards = open.turnRewards();
  return {
    trajectory: input.place.id,
    task: promptOf(input),
    outcome,
    reward: 0,
    success: false,
    turns,
    ...(turnRewards.some((reward) => reward !== 0) ? { turnRewards } : {}),
    head,
    policyVersion: input.policyVersion,
    tokens,
    generationSeconds: open.generationSeconds(),
    toolCalls: calls.length,
    validCalls: calls.filter((call) => call.valid).length,
  };
}

function promptOf(input: TrajectoryInput): string {
  return input.task.prompt.at(-1)?.content ?? "";
}
