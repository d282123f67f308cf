import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  isCancellation,
  log,
  rootCause,
  setCurrentDetails,
} from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import type { AgentLoop } from "../src/contracts/loop.ts";
import type { Outcome, TrajectoryInput, TrajectoryResult } from "../src/contracts/trajectory.ts";
import { summary } from "../src/run/projections/cut.ts";
import { endedInput, trajectoryResult } from "../src/run/projections/trajectory-result.ts";
import { bundledLoop, type ChosenLoop, chosenLoop } from "./chosen-loop.ts";
import { type OpenTrajectory, openTrajectory } from "./open-trajectory.ts";
import { mistakeIn } from "./plugin-mistake.ts";
import { isServedHere, schedule } from "./schedule.ts";
import { describeEnd } from "./search-attributes.ts";
import { isGeneratedHere } from "./trajectory-task.ts";

/**
 * Returns the trajectory workflow for the bundle's agent loops, by plugin name. It takes the loop's turns and
 * then scores the trajectory. It continues as new between two turns when its history is long. A cancellation,
 * a failure of the loop, or a failure of the infrastructure after its last retry ends the trajectory as
 * `left-out`. It never fails its step.
 */
export function trajectoryWorkflow(loops: Record<string, AgentLoop>) {
  return async function trajectory(input: TrajectoryInput): Promise<TrajectoryResult> {
    for (const one of [input.loop, ...Object.values(input.loops ?? {})]) bundledLoop(loops, one);
    const open = openTrajectory(input, setCurrentDetails);
    let result: TrajectoryResult | undefined;
    let loop: ChosenLoop | undefined;
    try {
      if (input.progress !== undefined || !isGeneratedHere(input)) await open.task.read(); // shows the task to people
      const chosen = await chosenLoop(input, open.task, loops);
      loop = chosen;
      const outcome = await open.orders.scope.run(() => takeTurns(open, chosen));
      if (outcome === "continue") {
        await open.session.stop({ moved: true });
        await condition(allHandlersFinished);
      }
      if (open.orders.cancelled() !== undefined) throw new CancelledFailure("cancelled as its turns ended");
      if (outcome !== "continue") result = await finish(input, open, outcome);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      result = await CancellationScope.nonCancellable(() =>
        leftOut(input, open, failureText((loop ?? input.loop).plugin, open, error)),
      );
      const mistake = mistakeIn(error);
      if (mistake !== undefined) result.mistake = mistake;
    }
    if (result === undefined) {
      return continueAsNew({ ...input, progress: open.carried() });
    }
    await CancellationScope.nonCancellable(() => release(open));
    await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    describeEnd(result, open.progress().toolsUsed);
    return result;
  };
}

/** Takes turns until one ends the trajectory, or returns "continue" when its history is long. */
async function takeTurns(open: OpenTrajectory, loop: ChosenLoop): Promise<Outcome | "continue"> {
  for (;;) {
    const outcome = await open.takeTurn(loop);
    if (outcome !== "continue") return outcome;
    if (open.isHistoryLong()) return "continue";
  }
}

async function finish(
  input: TrajectoryInput,
  open: OpenTrajectory,
  outcome: Outcome,
): Promise<TrajectoryResult> {
  open.orders.close();
  await open.session.stop();
  if (open.progress().head === null) return leftOut(input, open, `${outcome}: ${withoutAction(outcome)}`);
  const said = outcome === "answered" ? open.lastAction() : "";
  const options = {
    summary: summary(`${outcome}: ${said}`),
    isQuick: input.reward.pure,
    retry: input.reward.retry,
  };
  const task = await open.task.given(options.isQuick && isServedHere("tools", input.queues));
  const score = await schedule(
    input.queues,
    "score-trajectory",
    { ...endedInput(input, open.progress()), ...task, outcome, ...open.session.ending() },
    options,
  );
  const { reward, success, turnRewards } = score;
  return defined({
    ...trajectoryResult(input, open.progress(), open.prompt(), outcome),
    reward,
    success,
    turnRewards,
  });
}

/** Why a trajectory without an action has nothing to score. */
function withoutAction(outcome: Outcome): string {
  if (outcome !== "answered") return "before its first action";
  return "the loop ended before the policy acted. An agent must send its requests to the endpoint that Everturn gives it";
}

async function leftOut(
  input: TrajectoryInput,
  open: OpenTrajectory,
  reason: string,
): Promise<TrajectoryResult> {
  open.orders.close();
  await open.session.stop();
  await schedule(input.queues, "record-left-out", {
    ...endedInput(input, open.progress()),
    source: input.source,
    failure: reason,
  });
  return { ...trajectoryResult(input, open.progress(), open.prompt(), "left-out"), failure: reason };
}

/**
 * Describes the error that ended a trajectory. A plain error of the loop is caught too, because it would
 * retry the workflow task forever: the loop's code is frozen with the run.
 */
function failureText(loop: string, { orders }: OpenTrajectory, error: Error): string {
  const reason = orders.cancelled();
  if (isCancellation(error)) return reason === undefined ? "cancelled" : `cancelled: ${reason}`;
  if (error instanceof ActivityFailure)
    return `${error.activityType}: ${error.cause?.message ?? error.message}`;
  return `${loop}: ${error.message}`;
}

/**
 * The trajectory is already finished. A tool that can't be released wastes its resources, but does not spoil
 * the trajectory.
 */
async function release(open: OpenTrajectory): Promise<void> {
  try {
    await open.release();
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    log.warn("a tool was not released", { reason: rootCause(error) ?? error.message });
  }
}
