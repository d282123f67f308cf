import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MockActivityEnvironment } from "@temporalio/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { scoreGroup } from "../../../activities/score-group.ts";
import { scoreTrajectory } from "../../../activities/score-trajectory.ts";
import type { MemberScore } from "../../../src/contracts/activities.ts";
import type { ResolvedReward } from "../../../src/contracts/plan.ts";
import { plainReward } from "../../../src/plan/pipeline/resolve/call-settings.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { checkedGroupScores } from "../../../src/plugin/host/checked-answer.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { trajectoryKey } from "../../../src/run/store/keys.ts";
import { leftOutRecords, readTrajectoryRecord } from "../../../src/run/trajectory/trajectory-files.ts";
import { type ToolWorker, toolWorker } from "../../../src/work/workers/tool-worker.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writePlugin } from "../../support/thread-of.ts";
import { writeTurn } from "../../support/written-turn.ts";

const runs = temporaryFolder();
const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const task = {
  data_source: "test",
  prompt: [{ role: "user" as const, content: "Say a number." }],
  reward_model: { ground_truth: "" },
};
const number = "({ answer }) => ({ reward: Number(answer), success: answer === '3' })";

/** A reward whose score is `score`, or whose score of a group is `scoreGroup`. */
function reward(
  part: string,
  code: { score: string } | { scoreGroup: string },
  weight = 1,
): ResolvedReward[] {
  const [[name, source] = []] = Object.entries(code);
  const retry = { maximumAttempts: 2, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 };
  return plan.rewards.map((one) => ({
    ...one,
    part,
    weight,
    entry: writePlugin(`{ ${name}: ${source} }`),
    manifest: { ...one.manifest, reward: { ...plainReward, group: name === "scoreGroup" } },
    calls: { retry, timeout: 60_000, host: part },
  }));
}

/** A run with these rewards, whose group is the samples 4 to 7 of a task. */
async function groupOf(rewards: ResolvedReward[], stage = "step-0001") {
  const run = await createRunFolder({ ...plan, name: "group", rewards }, { runs });
  const worker = toolWorker(runs, run);
  onTestFinished(worker.close);
  const opened = await worker.openRun(run);
  const { store } = opened;
  const of = async () => ({ ...opened, plan: { ...opened.plan, rewards } });
  const working = { ...worker, openRun: of };
  const group = { step: 1, stage, task: "task-00000", samples: [4, 5, 6, 7] };
  const signal = new AbortController().signal;
  const nameOf = (sample: number) => ({ stage, task: group.task, sample });

  /** Has a trajectory end with this answer, and its own rewards score it. */
  async function end(sample: number, answer: string) {
    const place = { id: `${run}/${stage}/${group.task}/${sample}`, run, ...nameOf(sample), step: 1 };
    const head = await writeTurn(store, place, 1, [
      { previous: null, origin: "prompt", text: "Say a number.", tokens: [5] },
      { previous: null, origin: "action", text: answer, tokens: [6], policyVersion: 0 },
    ]);
    const input = {
      place,
      task,
      turns: 1,
      calls: 0,
      outcome: "answered" as const,
      head,
      policyVersion: 0,
      tokens: { prompt: 1, action: 1, observation: 0 },
      startedAt: sample,
    };
    const score = scoreTrajectory(working, runTasks());
    return new MockActivityEnvironment().run(() => score(input, signal, () => {}));
  }

  /** Has the group scored, of which these finished; by `worker`, if one is given. */
  function compare(finished: number[], by: Partial<ToolWorker> = {}): Promise<MemberScore[]> {
    const score = scoreGroup({ ...working, ...by }, runTasks());
    const input = { run, group, source: "training" as const, finished };
    return new MockActivityEnvironment().run(() => score(input, signal, () => {}));
  }
  const recordOf = (sample: number) => readTrajectoryRecord(store, nameOf(sample));
  return { run, worker, store, end, compare, recordOf, nameOf };
}

/** Twice the distance to the least, and a line in `log` each time that it is asked. */
function distance(log: string): string {
  return `({ members }) => {
    process.getBuiltinModule("fs").appendFileSync(${JSON.stringify(log)}, members.map((one) => one.sample).join() + "\\n");
    const least = Math.min(...members.map(({ metrics }) => metrics.number));
    return members.map(({ reward }) => ({ reward: 2 * (reward - least), metrics: { of: members.length } }));
  }`;
}

function logFile(name: string) {
  const path = join(runs, `${name}.log`);
  return { path, asked: () => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []) };
}

test("a group is compared once it has ended: a trajectory has no record before, and its own score with the group's then", async () => {
  const log = logFile("once");
  const { end, compare, recordOf } = await groupOf([
    ...reward("number", { score: number }),
    ...reward("rank", { scoreGroup: distance(log.path) }, 0.5),
  ]);
  for (const [sample, answer] of [
    [4, "1"],
    [5, "3"],
    [7, "2"],
  ] as const)
    expect(await end(sample, answer)).toEqual({ reward: Number(answer), success: answer === "3" });
  expect(await recordOf(4)).toBeUndefined();
  const scores = [
    { sample: 4, reward: 1, success: false },
    { sample: 5, reward: 5, success: true },
    { sample: 7, reward: 3, success: false },
  ];
  expect(await compare([4, 5, 7])).toEqual(scores);
  expect(await recordOf(5)).toMatchObject({
    outcome: "answered",
    answer: "3",
    reward: 5,
    success: true,
    metrics: { number: 3, rank: 4, "rank.of": 3 },
  });
  expect(await compare([4, 5, 7]), "asked again").toEqual(scores);
  expect(await end(5, "3"), "a late attempt is told the whole score").toEqual({ reward: 5, success: true });
  expect(log.asked()).toEqual(["4,5,7"]);
});

test("a worker that dies between what was said of a group and its trajectories' records: nothing is asked twice", async () => {
  const log = logFile("killed");
  const { end, compare, recordOf, nameOf, worker, run } = await groupOf([
    ...reward("number", { score: number }),
    ...reward("rank", { scoreGroup: distance(log.path) }),
  ]);
  for (const [sample, answer] of [
    [4, "1"],
    [5, "3"],
  ] as const)
    await end(sample, answer);
  const journal = await worker.journal(run);
  const died = new Error("killed");
  const dying = async () => ({
    ...journal,
    record: async (...given: Parameters<typeof journal.record>) => {
      if (given[0].path === trajectoryKey(nameOf(5)).path) throw died;
      return journal.record(...given);
    },
  });
  await expect(compare([4, 5], { journal: dying as typeof worker.journal })).rejects.toBe(died);
  expect(await recordOf(5)).toBeUndefined();
  expect(await compare([4, 5])).toEqual([
    { sample: 4, reward: 1, success: false },
    { sample: 5, reward: 7, success: true },
  ]);
  await end(6, "9"); // was left out then, and gets through after a resume
  const failure = "rank: its group was compared without it";
  expect(await compare([4, 5, 6])).toEqual([
    { sample: 4, reward: 1, success: false },
    { sample: 5, reward: 7, success: true },
    { sample: 6, failure },
  ]);
  expect(await recordOf(6)).toMatchObject({ outcome: "left-out", reward: 0, success: false, failure });
  expect(log.asked()).toEqual(["4,5"]);
  await compare([4, 5, 6]);
  expect(await leftOutRecords((await worker.openRun(run)).store, nameOf(6)), "once").toHaveLength(1);
});

describe("a missing score of a group", () => {
  const missing =
    "({ members }) => members.map(({ answer }) => answer === '3' ? { missing: 'tired' } : { reward: 1 })";
  const throwing = '() => { throw new Error("away") }';

  test("leaves its trajectory out", async () => {
    const strict = await groupOf([
      ...reward("number", { score: number }),
      ...reward("judge", { scoreGroup: missing }),
    ]);
    await strict.end(4, "1");
    await strict.end(5, "3");
    expect(await strict.compare([4, 5])).toEqual([
      { sample: 4, reward: 2, success: false },
      { sample: 5, failure: "judge: tired" },
    ]);
  });

  test("of a reward of weight 0 leaves out only its metric", async () => {
    const lax = await groupOf([
      ...reward("number", { score: number }),
      ...reward("judge", { scoreGroup: missing }, 0),
      ...reward("away", { scoreGroup: throwing }, 0),
    ]);
    await lax.end(5, "3");
    await expect(lax.compare([5])).rejects.toMatchObject({ code: "REWARD_FAILED", retryable: true });
    expect(await lax.compare([5])).toEqual([{ sample: 5, reward: 3, success: true }]);
    expect((await lax.recordOf(5))?.metrics).toEqual({ number: 3 });
  });

  test("leaves the trajectory out once the reward has failed as often as it may", async () => {
    const lost = await groupOf([
      ...reward("number", { score: number }, 0),
      ...reward("away", { scoreGroup: throwing }),
    ]);
    await lost.end(4, "3");
    await expect(lost.compare([4])).rejects.toMatchObject({ code: "REWARD_FAILED" });
    const [one] = await lost.compare([4]);
    expect(one).toMatchObject({ sample: 4, failure: expect.stringContaining("away") });
    expect(await lost.end(4, "3"), "solved is what the only reward of its own says").toEqual({
      reward: 0,
      success: true,
    });
  });
});

test("an evaluation has no groups: its trajectories have their own scores alone, at once", async () => {
  const throwing = '() => { throw new Error("asked") }';
  const { end, recordOf } = await groupOf(
    [...reward("number", { score: number }), ...reward("rank", { scoreGroup: throwing })],
    "evaluation-v0001",
  );
  expect(await end(0, "3")).toEqual({ reward: 3, success: true });
  expect(await recordOf(0)).toMatchObject({ reward: 3, metrics: { number: 3 } });
});

test.each([
  [{}, "it must be a list of 2"],
  [[{ reward: 1 }], "it must be a list of 2"],
  [[{ reward: 1 }, 2], "[1] must be { reward }, or { missing }"],
  [[{ reward: 1 }, { reward: Number.NaN }], "“reward” of [1] must be a number"],
  [[{ reward: 1, missing: "it" }, { reward: 1 }], "“missing” of [0]"],
  [[{ missing: "" }, { reward: 1 }], "“missing” of [0]"],
  [[{ reward: 1, metrics: { a: "b" } }, { reward: 1 }], "“metrics.a” must be a number"],
])("a reward of groups that answers %j is told what it should", (given, expected) => {
  expect(() => checkedGroupScores("reward-x", given, 2)).toThrow(expected);
});
