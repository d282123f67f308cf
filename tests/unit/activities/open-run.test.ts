import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRunActivity } from "../../../activities/open-run.ts";
import type { TrainedStep } from "../../../src/contracts/ledger.ts";
import type { EvaluationRecord } from "../../../src/contracts/run.ts";
import { runTasks } from "../../../src/plan/tasks/run-tasks.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../src/run/folder/open-runs.ts";
import { evaluationKey, recordedStepKey, trainedStepKey } from "../../../src/run/store/keys.ts";
import { trajectoryReader } from "../../../src/run/trajectory/reader.ts";
import { readTrajectories } from "../../../src/run/trajectory/trajectory-files.ts";
import { idleMetrics } from "../../support/idle-metrics.ts";
import { samplePlan } from "../../support/sample-plan.ts";
import { writeSampleRun } from "../../support/sample-run.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { folderOf, writeVersion } from "../../support/versions.ts";

const runs = temporaryFolder();
const sample = await writeSampleRun({ steps: 1 }, temporaryFolder());
const template = await sample.store.read(recordedStepKey(1));
if (template === undefined) throw new Error("the sample run has a step");

const options = { steps: 6, batchSize: 8, tasks: 4, evaluationEvery: 2 };

/** A run on disk after these steps and evaluations; what the training workflow would be told of it. */
async function progressAfter(steps: number, evaluated: number[], warmStart = true) {
  const run = await createRunFolder(samplePlan({ ...options, warmStart }), { runs });
  const opened = await openRunFolder(runs, run);
  const { folder, store } = opened;
  const first = warmStart ? 1 : 0;
  if (steps > 0)
    for (let version = 0; version <= first + steps; version++) await writeVersion(opened, version);
  for (let step = 1; step <= steps; step++) {
    const trajectoriesSoFar = 8 * step - (step < 2 ? 0 : 1);
    const record = { ...template, step, policyVersion: first + step, trajectoriesSoFar };
    await store.record(recordedStepKey(step), record);
  }
  for (const version of evaluated) {
    const name = `evaluation-v${String(version).padStart(4, "0")}`;
    await store.record(evaluationKey(name), evaluation(name, version));
  }
  const open = openRunActivity((id) => openRunFolder(runs, id), runTasks());
  return {
    folder,
    store,
    progress: async () => {
      const { progress } = await open({ run, knowsProgress: false });
      if (progress === undefined) throw new Error("it tells no progress");
      return progress;
    },
    settings: () => open({ run, knowsProgress: true }),
  };
}

function evaluation(name: string, policyVersion: number): EvaluationRecord {
  const rest = {
    step: 0,
    accuracy: 0.5,
    tasks: 4,
    leftOut: 0,
    toolCallRate: 1,
    meanActionTokens: 5,
    seconds: 1,
  };
  return { name, policyVersion, ...rest };
}

const versions = (evaluations: EvaluationRecord[]) => evaluations.map((record) => record.policyVersion);

test("a new run begins at step 1 with version 0", async () => {
  const { progress } = await progressAfter(0, []);
  expect(await progress()).toEqual({ nextStep: 1, policyVersion: 0, evaluations: [], trajectories: 0 });
});

test("a warm start counts once its policy was evaluated; before, its slices are asked for again", async () => {
  const unfinished = await progressAfter(0, [0]);
  expect(await unfinished.progress()).toMatchObject({ nextStep: 1, policyVersion: 0 });
  const finished = await progressAfter(0, [0, 1]);
  const progress = await finished.progress();
  expect(progress).toMatchObject({ nextStep: 1, policyVersion: 1 });
  expect(versions(progress.evaluations)).toEqual([0, 1]);
});

test("a half-finished run goes on after the last step that was recorded, whatever metrics.jsonl says", async () => {
  const { folder, store, progress } = await progressAfter(3, [0, 1, 3]);
  await store.record(recordedStepKey(4), template);
  truncateSync(join(folder.root, recordedStepKey(4).path), 100); // a power failure
  appendFileSync(folder.metrics, '{"step":4,"policyVersion":5}\n{"step":5,"policyVer');
  const { evaluations, ...rest } = await progress();
  expect(rest).toEqual({ nextStep: 4, policyVersion: 4, trajectories: 23 });
  expect(versions(evaluations)).toEqual([0, 1, 3]);
});

test("evaluations made by hand, and those of versions past the last step, are not the run's progress", async () => {
  const { store, progress } = await progressAfter(2, [0, 1, 3, 4]);
  const byHand = "evaluation-v0002-no-tools-20260102T030405678";
  await store.record(evaluationKey(byHand), evaluation(byHand, 2));
  expect(versions((await progress()).evaluations)).toEqual([0, 1, 3]);
});

test("a step that was committed and not recorded is told with its groups, as they were trained on and left out", async () => {
  const { id, runs: folders, store } = await writeSampleRun({ steps: 1, batchSize: 4 });
  const files = await trajectoryReader({ store }).list({ stage: "step-0001" });
  const records = await readTrajectories(store, files);
  const [first, second, third, fourth] = records;
  if (!first || !second || !third || !fourth) throw new Error("the sample run has four trajectories");
  expect(third.outcome).toBe("left-out");
  await store.remove(recordedStepKey(1));
  const trained = { trajectory: first.id, head: first.head ?? "", reward: first.reward, group: first.taskId };
  const record: TrainedStep = {
    step: 1,
    from: 1,
    policyVersion: 2,
    seconds: 1,
    trajectories: [trained],
    metrics: idleMetrics,
    leftOut: [
      { trajectory: second.id, reason: "all trajectories of its group earned the same" },
      { trajectory: third.id, reason: third.failure ?? "" },
      { trajectory: fourth.id, reason: "an earlier try of the step drew it, which did not get to train" },
    ],
  };
  await store.tree(
    trainedStepKey(1),
    async () => {},
    () => record,
  );
  const open = openRunActivity((run) => openRunFolder(folders, run), runTasks());
  const { progress } = await open({ run: id, knowsProgress: false });
  const groups = progress?.committed ?? [];
  expect(groups.map(({ group, leftOut }) => [group, leftOut])).toEqual([
    [first.taskId, undefined],
    [second.taskId, "lost"],
    [third.taskId, "lost"],
  ]);
  const [one, two, three] = groups.flatMap(({ results }) => results);
  expect(one).toMatchObject({ reward: first.reward, head: first.head, tokens: first.tokens });
  expect(one?.generationSeconds).toBeGreaterThan(0);
  expect(two).toMatchObject({ outcome: second.outcome, turns: second.turns.length });
  expect(three).toMatchObject({ outcome: "left-out", failure: third.failure });
});

test("a recorded step whose version broke is told to be done again, with the groups that it was committed with", async () => {
  const { id, runs: folders, store, folder } = await writeSampleRun({ steps: 2, batchSize: 4 });
  for (const version of [0, 1, 2]) await writeVersion(await openRunFolder(folders, id), version);
  const files = await trajectoryReader({ store }).list({ stage: "step-0002" });
  const trajectories = (await readTrajectories(store, files)).flatMap(
    ({ id: trajectory, outcome, head, reward, taskId }) =>
      outcome === "left-out" ? [] : [{ trajectory, head: head ?? "", reward, group: taskId }],
  );
  const record = {
    step: 2,
    from: 2,
    policyVersion: 3,
    seconds: 1,
    metrics: idleMetrics,
    trajectories,
    leftOut: [],
  };
  const { attempt } = await store.tree(
    trainedStepKey(2),
    async (place) => {
      mkdirSync(join(place, "policy"));
      writeFileSync(join(place, "policy", "weights"), "whole");
    },
    () => record,
  );
  const open = openRunActivity((run) => openRunFolder(folders, run), runTasks());
  const progress = async () => (await open({ run: id, knowsProgress: false })).progress;
  expect(await progress()).toMatchObject({ nextStep: 3, policyVersion: 3 });
  expect(await progress()).not.toHaveProperty("committed");
  writeFileSync(join(folder.root, "steps", "2", "trained", attempt, "policy", "weights"), "whose"); // as long as before
  const again = await progress();
  expect(again).toMatchObject({ nextStep: 2, policyVersion: 2 });
  const told = again?.committed?.flatMap(({ results }) => results.map(({ trajectory }) => trajectory));
  expect(told).toEqual(trajectories.map(({ trajectory }) => trajectory));
});

test.each([
  ["version 0", 0],
  ["the warm start's version", 1],
])("%s is told to be made again where its files changed, also at their size", async (_, version) => {
  const begun = await progressAfter(0, [0, 1]);
  const run = { store: begun.store, plan: samplePlan({ ...options, warmStart: true }) };
  for (const one of [0, 1]) await writeVersion(run, one);
  expect(await begun.progress()).toMatchObject({ nextStep: 1, policyVersion: 1 });
  writeFileSync(join(await folderOf(run, version), "weights"), "9");
  expect(await begun.progress()).toMatchObject({ nextStep: 1, policyVersion: 0, isFirstBroken: true });
  expect(versions((await begun.progress()).evaluations)).toEqual([0]);

  const later = await progressAfter(2, [0, 1]);
  const other = { store: later.store, plan: run.plan };
  for (const one of [0, 1]) await writeVersion(other, one);
  expect(await later.progress()).not.toHaveProperty("isFirstBroken");
  rmSync(join(await folderOf(other, version), "weights"));
  expect(await later.progress()).toMatchObject({ nextStep: 3, policyVersion: 3, isFirstBroken: true });
});

test("without a warm start version 1 is the first step's", async () => {
  const { progress } = await progressAfter(2, [0, 2], false);
  expect(await progress()).toMatchObject({ nextStep: 3, policyVersion: 2 });
});

test("who continued as new is told its settings alone: nothing is read that grows with the steps", async () => {
  const { folder, settings } = await progressAfter(3, [0]);
  mkdirSync(join(folder.root, recordedStepKey(4).path), { recursive: true }); // reading it would fail
  expect(await settings()).toMatchObject({ settings: { steps: 6, batchSize: 8 } });
  expect(Object.keys(await settings())).toEqual(["settings"]);
});
