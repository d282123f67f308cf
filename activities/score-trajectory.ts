import { Context } from "@temporalio/activity";
import { EverturnError } from "../src/base/errors/everturn-error.ts";
import { instruments } from "../src/base/telemetry/instruments.ts";
import type { Earned, ScoreInput } from "../src/contracts/activities.ts";
import { stepOf } from "../src/contracts/stages.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { toolDefinitions } from "../src/plan/pipeline/resolve/tool-definitions.ts";
import { givenTask, type RunTasks } from "../src/plan/tasks/run-tasks.ts";
import { scoredTurns } from "../src/run/projections/policy-calls.ts";
import { trajectoryRecord } from "../src/run/projections/trajectory-record.ts";
import { trajectoryScore } from "../src/run/projections/trajectory-summary.ts";
import { beforeGroupKey, failureKey, scoreKey, trajectoryKey } from "../src/run/store/keys.ts";
import { readEnded } from "../src/run/trajectory/ended-trajectory.ts";
import { finalAnswer } from "../src/run/trajectory/final-answer.ts";
import { recordedOnce } from "../src/run/trajectory/journal.ts";
import { recordedResults } from "../src/work/agents/recorded-results.ts";
import { addedScores, addedTurns } from "../src/work/tools/added-scores.ts";
import { compareGroups } from "../src/work/tools/group-parts.ts";
import { lastSnapshots } from "../src/work/tools/last-snapshots.ts";
import { scoreParts } from "../src/work/tools/score-parts.ts";
import { callService } from "../src/work/tools/service.ts";
import type { ToolWorker } from "../src/work/workers/tool-worker.ts";

/**
 * Scores a finished trajectory by each reward and records it in the trajectory store. Each reward scores it
 * once, also if the trajectory was left out before and its step is retried after a repair of the
 * infrastructure. If rewards compare its group, the final record waits for them. Throws REWARD_FAILED and
 * REWARD_TIMED_OUT, which Temporal retries, and REWARD_GAVE_UP when the attempts are spent. Also throws
 * REWARD_MISSING, TOOL_HOST_DOWN, TURN_MISSING and the errors that name a plugin's mistake.
 */
export function scoreTrajectory(worker: ToolWorker, tasks: RunTasks) {
  const rewards = instruments().reward;
  return async (input: ScoreInput, signal: AbortSignal, report: Report): Promise<Earned> => {
    const { place, outcome } = input;
    const run = await worker.openRun(place.run);
    const { store, plan } = run;
    const task = await givenTask(run, tasks, input, place.task);
    const journal = await worker.journal(place.run);
    const isCompared = stepOf(place.stage) !== undefined && compareGroups(plan.rewards);
    const known = isCompared ? await journal.read(trajectoryKey(place)) : undefined;
    if (known !== undefined) return trajectoryScore(plan, known);
    const key = isCompared ? beforeGroupKey(place) : trajectoryKey(place);
    const record = await recordedOnce(journal, key, async (lookAgain) => {
      const ended = await readEnded(store, { ...input, task });
      const { turns } = ended;
      if (turns.length < input.turns) {
        throw new EverturnError("TURN_MISSING", { trajectory: place.id, turn: turns.length + 1 });
      }
      const answer =
        input.answer ??
        (await finalAnswer(store, outcome, turns, {
          format: plan.rollout.format,
          tools: toolDefinitions(plan),
        }));
      const { attempt } = Context.current().info;
      const parts = await scoreParts(plan.rewards, task, {
        recorded: (part, ask) => recordedOnce(journal, scoreKey(place, part), ask),
        ask: async ({ index, part, config, manifest }, lookAtPart) => {
          const reward = await worker.reward(index);
          const states =
            manifest.reward?.snapshots === true
              ? { snapshots: await lastSnapshots(plan.tools, ended.calls, store) }
              : {};
          const results =
            manifest.reward?.recorded === true ? { recorded: await recordedResults(journal, place) } : {};
          const keyOf = (failure: number) => failureKey(place, "score", failure);
          const work = async () => {
            await lookAgain();
            await lookAtPart?.();
            return reward.plugin.score({
              task,
              turns: scoredTurns(turns),
              outcome,
              answer,
              config,
              signal,
              ...states,
              ...results,
            });
          };
          const options = { failures: { store, keyOf, part }, attempt, signal, onWait: report };
          return (await callService(reward, work, options)).answer;
        },
      });
      const { reward, success, metrics = {}, turns: earned } = addedScores(parts);
      const total = reward + ended.toolReward;
      if (!isCompared) rewards.record(total, { outcome });
      const turnRewards =
        earned === undefined ? ended.turnRewards : addedTurns([earned, ended.turnRewards ?? []]);
      return trajectoryRecord(
        { ...input, task },
        { ...ended, turnRewards },
        { outcome, answer, reward: total, success, metrics },
      );
    });
    return trajectoryScore(plan, record);
  };
}
