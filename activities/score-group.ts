import { Context } from "@temporalio/activity";
import { instruments } from "../src/base/telemetry/instruments.ts";
import type { MemberScore, ScoreGroupInput } from "../src/contracts/activities.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { type RunTasks, taskAt } from "../src/plan/tasks/run-tasks.ts";
import { groupMember } from "../src/run/projections/policy-calls.ts";
import { trajectoryScore } from "../src/run/projections/trajectory-summary.ts";
import {
  beforeGroupKey,
  failureKey,
  groupScoreKey,
  type TrajectoryName,
  trajectoryKey,
} from "../src/run/store/keys.ts";
import { recordedOnce } from "../src/run/trajectory/journal.ts";
import { recordedAsLeftOut } from "../src/run/trajectory/recorded-as-left-out.ts";
import { scoreGroupParts, withGroupParts } from "../src/work/tools/group-parts.ts";
import { callService } from "../src/work/tools/service.ts";
import type { ToolWorker } from "../src/work/workers/tool-worker.ts";

/**
 * Lets the group rewards compare the trajectories of an ended group, each reward once, and records the
 * trajectories with their scores. A trajectory that was never compared, or that a weighted reward has no
 * score for, is left out with the reason. Throws REWARD_FAILED and REWARD_TIMED_OUT, which Temporal retries,
 * and the errors that name a plugin's mistake.
 */
export function scoreGroup(worker: ToolWorker, tasks: RunTasks) {
  const rewards = instruments().reward;
  return async (input: ScoreGroupInput, signal: AbortSignal, report: Report): Promise<MemberScore[]> => {
    const { group, source, finished } = input;
    const { stage, task: id, samples } = group;
    const run = await worker.openRun(input.run);
    const { store, plan } = run;
    const journal = await worker.journal(input.run);
    const nameOf = (sample: number): TrajectoryName => ({ stage, task: id, sample });
    const [first = nameOf(0)] = samples.map(nameOf);
    const task = await taskAt(run, tasks, source, id);
    const standing = await Promise.all(samples.map((sample) => journal.read(trajectoryKey(nameOf(sample)))));
    const wasCompared = standing.some((record) => record !== undefined);
    const before = await Promise.all(finished.map((sample) => journal.read(beforeGroupKey(nameOf(sample)))));
    const members = before.flatMap((record) => (record === undefined ? [] : [groupMember(record)]));
    const { attempt } = Context.current().info;

    const parts = await scoreGroupParts(plan.rewards, task, async (reward) => {
      const { index, name, part = name, config } = reward;
      const key = groupScoreKey(first, part);
      if (wasCompared) return (await store.read(key)) ?? {}; // this record is freed once the step's file holds the group
      return recordedOnce(journal, key, async (lookAgain) => {
        const opened = await worker.reward(index);
        const keyOf = (failure: number) => failureKey(first, "score", failure);
        const work = async () => {
          await lookAgain();
          const said = await opened.plugin.scoreGroup({ task, members, config, signal });
          return Object.fromEntries(said.map((score, at) => [members[at]?.sample, score]));
        };
        const options = { failures: { store, keyOf, part }, attempt, signal, onWait: report };
        return (await callService(opened, work, options)).answer;
      });
    });

    return Promise.all(
      finished.map(async (sample): Promise<MemberScore> => {
        const known = standing[samples.indexOf(sample)];
        if (known !== undefined) return { sample, ...trajectoryScore(plan, known) };
        const own = before[finished.indexOf(sample)];
        if (own === undefined) return { sample, failure: "what its own rewards said can't be read" };
        const whole = withGroupParts(own, parts);
        if (whole.outcome === "left-out") {
          await recordedAsLeftOut(store, whole);
          return { sample, failure: whole.failure ?? "" };
        }
        rewards.record(whole.reward, { outcome: whole.outcome });
        return {
          sample,
          ...trajectoryScore(plan, await journal.record(trajectoryKey(nameOf(sample)), whole)),
        };
      }),
    );
  };
}
