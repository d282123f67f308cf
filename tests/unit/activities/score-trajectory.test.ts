import { existsSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { MockActivityEnvironment } from "@temporalio/testing";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { recordLeftOut } from "../../../activities/record-left-out.ts";
import { scoreTrajectory } from "../../../activities/score-trajectory.ts";
import type { ScoreInput } from "../../../src/contracts/activities.ts";
import type { ResolvedReward } from "../../../src/contracts/plan.ts";
import type { Score } from "../../../src/contracts/reward.ts";
import { plainReward } from "../../../src/plan/pipeline/resolve/call-settings.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../src/run/folder/open-runs.ts";
import { callKey, failureKey, trajectoryKey } from "../../../src/run/store/keys.ts";
import { finalAnswer } from "../../../src/run/trajectory/final-answer.ts";
import { leftOutRecords, readTrajectoryRecord } from "../../../src/run/trajectory/trajectory-files.ts";
import { toolWorker } from "../../../src/work/workers/tool-worker.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writePlugin } from "../../support/thread-of.ts";
import { writeTurn } from "../../support/written-turn.ts";

const runs = temporaryFolder();
const plan = samplePlan({ steps: 1, batchSize: 8, tasks: 2, warmStart: false, evaluationEvery: 1 });
const run = await createRunFolder(plan, { runs });
const { folder, store } = await openRunFolder(runs, run);

/** A trajectory with so many turns in its journal, the last of which made a call that a tool rewarded with 0.25. */
async function finished(task: string, { turns = 1, of = run } = {}): Promise<ScoreInput> {
  const stage = "step-0001";
  const place = { id: `${of}/${stage}/${task}/0`, run: of, stage, step: 1, task, sample: 0 };
  const { store: journal } = await openRunFolder(runs, of);
  let head = "";
  for (let turn = 1; turn <= turns; turn++) {
    head = await writeTurn(journal, place, turn, [
      { previous: null, origin: "prompt", text: "1 + 1 =", tokens: [5, 6, 7] },
      { previous: null, origin: "action", text: "2", tokens: [turn], policyVersion: 0 },
    ]);
  }
  const answered = { observation: "", valid: true, reward: 0.25, attempts: 1, seconds: 0 };
  await journal.record(callKey(place, turns, 0), { ...answered, tool: "calculator", arguments: {} });
  return {
    place,
    task: {
      data_source: "test",
      prompt: [{ role: "user", content: "1 + 1 =" }],
      reward_model: { ground_truth: "2" },
    },
    turns,
    calls: 1,
    outcome: "answered",
    head,
    policyVersion: 0,
    tokens: { prompt: 3, action: 1, observation: 0 },
    startedAt: 0,
  };
}

/** A reward of a list, by the code of its `score`. */
interface Part extends Pick<ResolvedReward, "weight" | "part" | "dataSources"> {
  score: string;
  snapshots?: boolean;
}

/** Has the rewards with these `score`s, one alone or those of a list, score the trajectory, within `timeout` ms and two attempts each. */
async function scored(
  input: ScoreInput,
  score: string | Part[],
  { timeout = 10_000, signal = new AbortController().signal } = {},
): Promise<Pick<Score, "reward" | "success">> {
  const retry = { maximumAttempts: 2, initialInterval: 1, backoffCoefficient: 1, maximumInterval: 1 };
  const parts = typeof score === "string" ? [{ score, weight: 1 }] : score;
  const rewards = parts.flatMap(({ score: code, snapshots = false, ...part }) =>
    plan.rewards.map((reward) => ({
      ...reward,
      ...part,
      entry: writePlugin(`{ score: ${code} }`),
      manifest: { ...reward.manifest, reward: { ...plainReward, ...reward.manifest.reward, snapshots } },
      calls: { retry, timeout, host: "reward" },
    })),
  );
  const other = await createRunFolder({ ...plan, rewards }, { runs });
  const worker = toolWorker(runs, other);
  onTestFinished(worker.close);
  const openRun = async (id: string) => {
    const opened = await worker.openRun(id);
    return { ...opened, plan: { ...opened.plan, rewards } };
  };
  const scoring = scoreTrajectory({ ...toolWorker(runs, run), openRun, reward: worker.reward }, runTasks());
  return new MockActivityEnvironment().run(() => scoring(input, signal, () => {}));
}

test("a trajectory is scored once, with what its tools add", async () => {
  const input = await finished("task-00000");
  expect(await scored(input, "() => ({ reward: 1, success: true })")).toEqual({
    reward: 1.25,
    success: true,
  });
  const again = scored(input, '() => { throw new Error("scored twice") }');
  expect(await again).toEqual({ reward: 1.25, success: true });
  expect(await readTrajectoryRecord(store, input.place)).toMatchObject({
    outcome: "answered",
    reward: 1.25,
  });
});

test("what the reward and the tools measured is in the trajectory's record: of a tool, the mean of its calls", async () => {
  const input = { ...(await finished("task-00004")), calls: 4 };
  for (const [index, hits] of [2, undefined, 4].entries()) {
    if (hits === undefined) continue; // it was never answered
    const answered = { observation: "", valid: true, reward: 0, attempts: 1, seconds: 0 };
    const call = { ...answered, tool: "search", arguments: {}, metrics: { hits } };
    await store.record(callKey(input.place, 1, 1 + index), call);
  }
  await scored(input, "() => ({ reward: 1, success: true, metrics: { length: 7 } })");
  const metrics = { length: 7, "search.hits": 3 };
  const turns = [
    { toolCalls: [{ tool: "calculator" }, { tool: "search" }, { tool: "search" }], unanswered: 1 },
  ];
  expect(await readTrajectoryRecord(store, input.place)).toMatchObject({ metrics, turns });
});

test("a trajectory that was left out is scored when its step is tried again, and nothing of it is removed", async () => {
  const input = await finished("task-00001");
  const named = { ...input, task: undefined };
  const leaveOut = recordLeftOut((id) => openRunFolder(runs, id), runTasks());
  const fail = (startedAt: number, failure: string) =>
    leaveOut({ ...named, startedAt, source: "training", failure });
  await fail(1000, "calculator: the host is down");
  await fail(2000, "calculator: it is down again");
  await fail(1000, "a late attempt of the first admission");
  const failures = (await leftOutRecords(store, input.place)).map(({ failure }) => failure);
  expect(failures).toEqual(["calculator: the host is down", "calculator: it is down again"]);
  expect(await readTrajectoryRecord(store, input.place)).toMatchObject({
    outcome: "left-out",
    reward: 0,
    failure: "calculator: it is down again",
  });
  await scored(input, "() => ({ reward: 1, success: true })");
  await fail(2000, "a late attempt of the second admission");
  const record = await readTrajectoryRecord(store, input.place);
  expect(record).toMatchObject({ outcome: "answered", reward: 1.25, success: true });
  expect(record?.failure).toBeUndefined();
  expect(await leftOutRecords(store, input.place)).toHaveLength(2);
});

test("a record that was cut is told, and the trajectory is scored again", async () => {
  const input = await finished("task-00005");
  await scored(input, "() => ({ reward: 1, success: true })");
  truncateSync(join(folder.root, trajectoryKey(input.place).path), 100);
  expect(await readTrajectoryRecord(store, input.place)).toBeUndefined();
  await scored(input, "() => ({ reward: 2, success: true })");
  expect(await readTrajectoryRecord(store, input.place)).toMatchObject({ reward: 2.25 });
});

test("where the trainer compares turns, the score says what the least and the most of a turn was", async () => {
  const comparing = { ...plan, name: "comparing", trainer: { ...plan.trainer, comparesTurns: true } };
  const other = await createRunFolder(comparing, { runs });
  const scoreOf = async (turns: number) =>
    scored(await finished(`task-0000${turns}`, { turns, of: other }), "() => ({ reward: 1, success: true })");
  expect(await scoreOf(1)).toEqual({ reward: 1.25, success: true, turnRewards: { least: 1.25, most: 1.25 } });
  expect(await scoreOf(2)).toEqual({ reward: 1.25, success: true, turnRewards: { least: 0, most: 1.25 } });
});

test("several rewards are added up by their weights, those of other data sources are not asked, and what each turn earned is told", async () => {
  const input = await finished("task-00006", { turns: 2 });
  const parts = [
    { part: "other", weight: 1, dataSources: ["elsewhere"], score: '() => { throw new Error("asked") }' },
    { part: "right", weight: 1, score: "() => ({ reward: 1, success: true, metrics: { length: 7 } })" },
    { part: "calls", weight: 0.5, score: "() => ({ reward: 3, success: false, turns: [2, 1] })" },
    { part: "watched", weight: 0, score: "() => ({ reward: 9, success: false })" },
  ];
  expect(await scored(input, parts)).toEqual({ reward: 2.75, success: true });
  expect(await readTrajectoryRecord(store, input.place)).toMatchObject({
    reward: 2.75,
    turnRewards: [1, 0.75], // half of what the reward gave, and the tool's 0.25
    metrics: { right: 1, "right.length": 7, calls: 3, watched: 9 },
  });
});

test("of several rewards each is asked until it has answered, and no longer", async () => {
  const input = await finished("task-00007");
  const log = join(runs, "asked.log");
  const asked = (part: string, does: string) => `() => {
    process.getBuiltinModule("fs").appendFileSync(${JSON.stringify(log)}, "${part} ");
    ${does}
  }`;
  const right = (score: string) => [
    { part: "right", weight: 1, score: asked("right", "return { reward: 1, success: true }") },
    { part: "judge", weight: 1, score: asked("judge", score) },
  ];
  const down = scored(input, right('throw new Error("the judge is away")'));
  await expect(down).rejects.toMatchObject({ code: "REWARD_FAILED", params: { reward: "judge" } });
  expect(await readTrajectoryRecord(store, input.place), "no score was made up").toBeUndefined();
  expect(await scored(input, right("return { reward: 0.5, success: false }"))).toEqual({
    reward: 1.75,
    success: true,
  });
  expect(readFileSync(log, "utf8").trim().split(" ").sort()).toEqual(["judge", "judge", "right"]);
  expect(await store.read(failureKey(input.place, "score", 1))).toMatchObject({ part: "judge" });
});

test("a reward that asks for them is given the states that the tools ended with", async () => {
  const input = { ...(await finished("task-00010")), calls: 4 };
  const answered = { observation: "", valid: true, reward: 0, attempts: 1, seconds: 0, arguments: {} };
  for (const [index, state] of ["one", "two", undefined].entries()) {
    const left = state === undefined ? {} : { snapshot: await store.bytes(Buffer.from(state)) };
    await store.record(callKey(input.place, 1, 1 + index), { ...answered, tool: "calculator", ...left });
  }
  const told = `({ snapshots }) => ({
    reward: snapshots && Buffer.from(snapshots.calculator).toString() === "two" ? 1 : 0, success: true
  })`;
  const one = (part: string, snapshots: boolean) => ({ part, weight: 1, score: told, snapshots });
  await scored(input, [one("asks", true), one("does-not", false)]);
  const record = await readTrajectoryRecord(store, input.place);
  expect(record?.metrics).toEqual({ asks: 1, "does-not": 0 });
});

describe("a score that is missing", () => {
  const reason = "the tests did not build";
  const missing = `() => ({ missing: "${reason}." })`;
  const parts = (weight: number, score: string) => [
    { part: "right", weight: 1, score: "() => ({ reward: 1, success: true })" },
    { part: "tests", weight, score },
  ];

  test("leaves the trajectory out", async () => {
    const input = await finished("task-00008");
    await expect(scored(input, missing)).rejects.toMatchObject({
      code: "REWARD_MISSING",
      retryable: false,
      params: { reason },
    });
    await expect(scored(input, parts(1, missing))).rejects.toMatchObject({
      params: { reward: "tests", reason },
    });
    expect(await readTrajectoryRecord(store, input.place)).toBeUndefined();
  });

  test("of a reward of weight 0 leaves out only its metric", async () => {
    const input = await finished("task-00011");
    const throwing = '() => { throw new Error("away") }';
    await expect(scored(input, parts(0, throwing))).rejects.toMatchObject({ code: "REWARD_FAILED" });
    expect(await scored(input, parts(0, throwing))).toEqual({ reward: 1.25, success: true });
    const record = await readTrajectoryRecord(store, input.place);
    expect(record?.metrics).toEqual({ right: 1 });
  });
});

test("rewards of turns are a number for each turn", async () => {
  const input = await finished("task-00009", { turns: 2 });
  const short = scored(input, "() => ({ reward: 1, success: true, turns: [1] })");
  await expect(short).rejects.toMatchObject({
    code: "PLUGIN_ANSWER_INVALID",
    message: expect.stringContaining("“turns” must be a number for each of the 2 turns"),
  });
});

test("a judge that never answers costs its time-out, not the activity's, and its attempts are counted", async () => {
  const input = await finished("task-00002");
  const hanging = () => scored(input, "() => new Promise(() => {})", { timeout: 50 });
  await expect(hanging()).rejects.toMatchObject({ code: "REWARD_TIMED_OUT", retryable: true });
  const reason = "no answer within 0.05 s";
  const gaveUp = { code: "REWARD_GAVE_UP", params: { times: "2 times", reason }, retryable: false };
  await expect(hanging()).rejects.toMatchObject(gaveUp);
  expect(await readTrajectoryRecord(store, input.place), "no score was made up").toBeUndefined();
  expect(await store.read(failureKey(input.place, "score", 1))).toMatchObject({ code: "REWARD_TIMED_OUT" });
  expect(await store.read(failureKey(input.place, "score", 2))).toMatchObject({ isLast: true });
});

test("a cancelled score tells its judge, and costs it no attempt", async () => {
  const input = await finished("task-00003");
  const { signal, abort } = cancellable();
  const log = join(runs, "judge.log");
  const judge = `({ signal }) => {
    const { writeFileSync } = process.getBuiltinModule("fs");
    writeFileSync(${JSON.stringify(log)}, "asked");
    signal.addEventListener("abort", () => writeFileSync(${JSON.stringify(log)}, signal.reason.message));
    return new Promise(() => {});
  }`;
  const scoring = scored(input, judge, { signal });
  scoring.catch(() => {}); // looked at below
  await vi.waitUntil(() => existsSync(log), { timeout: 100_000 });
  abort(new Error("cancelled"));
  await expect(scoring).rejects.toThrow("cancelled");
  await vi.waitUntil(() => readFileSync(log, "utf8") === "cancelled", { timeout: 100_000 });
  expect(await store.read(failureKey(input.place, "score", 1))).toBeUndefined();
});

function cancellable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason: Error) => controller.abort(reason) };
}

test("an answer is the last action without thoughts and calls; what has none stays as it is", async () => {
  const clock = { name: "clock", description: "", parameters: {} };
  const answer = (action: string, format?: "harmony" | "gemma-4" | "llama3-json") =>
    finalAnswer(store, "answered", [{ action, toolCalls: [] }], { format, tools: [clock] });
  expect(await answer("    return 1\n")).toBe("    return 1\n");
  expect(await answer("<think>2? No.</think>\n\n3 ")).toBe("3");
  expect(await answer("2? No.</think>3")).toBe("3");
  const channels = "<|channel|>analysis<|message|>2?<|end|><|start|>assistant<|channel|>final<|message|>3";
  expect(await answer(channels, "harmony")).toBe("3");
  expect(await answer("<|channel>thought\n2?\n<channel|>3", "gemma-4")).toBe("3");
  expect(await answer('{"name": "Ada", "age": 36}', "llama3-json")).toBe('{"name": "Ada", "age": 36}');
  const limited = [{ action: "3", toolCalls: [] }];
  expect(await finalAnswer(store, "turn-limit", limited, { format: undefined, tools: [] })).toBe("");
});
