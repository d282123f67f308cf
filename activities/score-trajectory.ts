import { Context } from "@temporalio/activity";
import type { ScoreTrajectoryInput, TrajectoryScore } from "../src/contracts/activities.ts";
import { EverturnError } from "../src/errors/everturn-error.ts";
import type { ToolWorker } from "../src/roles/tool-worker.ts";
import { rewardRange } from "../src/rollout/read-summary.ts";
import { failureKey, trajectoryKey } from "../src/store/keys.ts";
import { givenTask, type RunTasks } from "../src/tasks/run-tasks.ts";
import { instruments } from "../src/telemetry/instruments.ts";
import type { Report } from "../src/temporal/durable.ts";
import { callService } from "../src/tools/service.ts";
import { readEnded } from "../src/trajectory/ended-trajectory.ts";
import { recordedOnce } from "../src/trajectory/journal.ts";
import { trajectoryRecord } from "../src/trajectory/trajectory-record.ts";

/**
 * Has the reward manager score a finished trajectory, and records it in the trajectory store. Scored once, also where it
 * was left out before, and its step tried again when its infrastructure was mended.
 * Throws REWARD_FAILED and REWARD_TIMED_OUT, which Temporal retries; REWARD_GAVE_UP when the attempts are spent;
 * TOOL_HOST_DOWN, TURN_MISSING, and what names a mistake of the plugin.
 */
export function scoreTrajectory(worker: ToolWorker, tasks: RunTasks) {
  const rewards = instruments().reward;
  return async (
    input: ScoreTrajectoryInput,
    signal: AbortSignal,
    report: Report,
  ): Promise<TrajectoryScore> => {
    const { place, outcome } = input;
    const run = await worker.openRun(place.run);
    const { store, plan } = run;
    const task = await givenTask(run, tasks, input, place.task);
    const failures = { store, keyOf: (failure: number) => failureKey(place, "score", failure) };
    const journal = await worker.journal(place.run);
    const record = await recordedOnce(journal, trajectoryKey(place), async (lookAgain) => {
      const reward = await worker.reward();
      const ended = await readEnded(store, { ...input, task });
      const { turns } = ended;
      if (turns.length < input.turns) {
        throw new EverturnError("TURN_MISSING", { trajectory: place.id, turn: turns.length + 1 });
      }
      const answer = outcome === "answered" ? (turns.at(-1)?.action ?? "") : "";
      const { config } = plan.reward;
      const { attempt } = Context.current().info;
      const { answer: score } = await callService(
        reward,
        async () => {
          await lookAgain();
          return reward.plugin.score({ task, turns, outcome, answer, config, signal });
        },
        { failures, attempt, signal, onWait: report },
      );
      const total = score.reward + ended.toolReward;
      rewards.record(total, { outcome });
      const { success, metrics = {} } = score;
      return trajectoryRecord({ ...input, task }, ended, {
        outcome,
        answer,
        reward: total,
        success,
        metrics,
      });
    });
    const { reward, success } = record;
    if (plan.trainer.comparesTurns !== true) return { reward, success };
    return { reward, success, turnRewards: rewardRange(record) };
  };
}
