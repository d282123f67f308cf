import { hash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { trainStep } from "../../../activities/train-step.ts";
import { collected } from "../../../src/base/async/collected.ts";
import type { Segment } from "../../../src/contracts/generated/segment.ts";
import type { BatchMember } from "../../../src/contracts/ledger.ts";
import type { Report } from "../../../src/control/temporal/durable.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { reserve } from "../../../src/results/ledger/reservations.ts";
import { trainedSteps } from "../../../src/results/ledger/trained-steps.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { type OpenRun, openRunFolder, openRuns } from "../../../src/run/folder/open-runs.ts";
import { sweepRun } from "../../../src/run/folder/sweep.ts";
import { segmentRef } from "../../../src/run/projections/segment-ref.ts";
import { recordedStepKey, trainedStepKey, trajectoryKey, turnKey } from "../../../src/run/store/keys.ts";
import { trajectoryOf } from "../../../src/run/trajectory/trajectory-of.ts";
import { newestVersion } from "../../../src/run/versions/newest-version.ts";
import { trainerWorker } from "../../../src/work/workers/trainer-worker.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { folderOf, initializeVersion } from "../../support/versions.ts";
import { writeScore } from "../../support/written-score.ts";
import { writeTurn } from "../../support/written-turn.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "..", "pipelines", "small.yaml");
const plan = await loadPlan(pipeline, { overrides: ["trainer.config.minibatchSize=2"] });

/** A run whose warm start is done, and a batch for its first step. */
async function fresh() {
  const run = await createRunFolder(plan, { runs });
  const opened = await openRunFolder(runs, run);
  const { folder, store } = opened;
  for (const version of [0, 1]) await initializeVersion(opened, version);
  const batch: BatchMember[] = [];
  for (const sample of [0, 1]) {
    const prompt: Segment = { previous: null, origin: "prompt", text: "?", tokens: [5, 6, 7] };
    const logprobs = [-3, -3];
    const tokens = [8 + sample, 2];
    const action: Segment = {
      previous: segmentRef(prompt),
      origin: "action",
      text: "!",
      tokens,
      logprobs,
      policyVersion: 1,
    };
    const place = { stage: "step-0001", task: `task-0000${sample}`, sample: 0 };
    const head = await writeTurn(store, place, 1, [prompt, action]);
    await writeScore(store, place, { head, reward: sample });
    const trajectory = `${run}/step-0001/task-0000${sample}/0`;
    batch.push({ trajectory, head, reward: sample, group: `task-0000${sample}` });
  }
  const leftOut = [{ trajectory: `${run}/step-0001/task-00002/0`, reason: "calculator: the host is down" }];
  const attempt = async (report: Report = () => {}) => {
    const worker = trainerWorker(openRuns(runs));
    const input = { run, step: 1, policyVersion: 1, batch, minGroup: 1, leftOut };
    try {
      return await trainStep(worker)(input, new AbortController().signal, report);
    } finally {
      await worker.close();
    }
  };
  const record = async () => (await store.readTree(trainedStepKey(1)))?.value;
  return { opened, folder, store, batch, leftOut, attempt, record };
}

const weights = async (run: OpenRun, version: number) =>
  readFileSync(join(await folderOf(run, version), "model.safetensors"));

test("whoever watches is told how far a step is", async () => {
  const { attempt } = await fresh();
  const said: (string | undefined)[] = [];
  await attempt((text) => said.push(text));
  expect(said).toEqual([
    "scores by the policy, 0 % done",
    "scores by the policy, 100 % done",
    "scores by the reference, 0 % done",
    "scores by the reference, 100 % done",
    "update 1 of 1, 0 % done",
    "update 1 of 1, 100 % done",
    "the next version is saved",
  ]);
});

test("the step's record says what became of each trajectory, and which files it committed", async () => {
  const { opened, batch, leftOut, attempt, record: read } = await fresh();
  const result = await attempt();
  const record = await read();
  expect(record).toMatchObject({ step: 1, from: 1, policyVersion: 2, trajectories: batch, leftOut });
  expect(result).toEqual({ policyVersion: 2, metrics: record?.metrics, seconds: record?.seconds });
  const { files = {} } = (await opened.store.readTree(trainedStepKey(1))) ?? {};
  const own = await weights(opened, 2);
  expect(files["policy/model.safetensors"]).toEqual({ size: own.length, sha256: hash("sha256", own) });
  expect(Object.keys(files)).toContain("trainer/optimizer.safetensors");
});

test("a trajectory whose turn was cut is left out with the reason, and the step is trained on the others", async () => {
  const { folder, batch, leftOut, attempt, record } = await fresh();
  const [whole, cut] = batch.map(({ trajectory }) => trajectory);
  truncateSync(join(folder.root, turnKey(trajectoryOf(cut ?? ""), 1).path), 200);
  const unreadable = [{ trajectory: cut, reason: "its turns can't be read" }];
  expect(await attempt()).toMatchObject({ policyVersion: 2, unreadable });
  const trained = await record();
  expect(trained).toMatchObject({
    trajectories: [{ trajectory: whole }],
    leftOut: [...leftOut, ...unreadable],
  });
  expect(trained?.trajectories).toHaveLength(1);
});

test("a step whose version broke after it was recorded makes the same again, bit for bit", async () => {
  const { opened, store, attempt, record } = await fresh();
  const first = await attempt();
  const [made, trained] = [await weights(opened, 2), await record()];
  const recorded: unknown = { step: 1 };
  await store.record<unknown>(recordedStepKey(1), recorded);
  truncateSync(join(await folderOf(opened, 2), "model.safetensors"), 100);
  expect(await record()).toBeUndefined();
  const again = await attempt();
  expect(again).toEqual({ ...first, seconds: again.seconds });
  expect(await record()).toEqual({ ...trained, seconds: again.seconds });
  expect((await weights(opened, 2)).equals(made)).toBe(true);
});

test("a step nothing of which can be read ends with the reason, and is not tried again", async () => {
  const { folder, batch, attempt } = await fresh();
  for (const { trajectory } of batch) rmSync(join(folder.root, trajectoryKey(trajectoryOf(trajectory)).path));
  const reason = `2 of 2, such as ${batch[0]?.trajectory}: its record can't be read`;
  await expect(attempt()).rejects.toMatchObject({
    code: "BATCH_EMPTY",
    params: { reason },
    retryable: false,
  });
});

test("what an earlier try of the step reserved, and the one that trains did not need, is left out with the reason", async () => {
  const { store, leftOut, attempt, record } = await fresh();
  await reserve(store, { stage: "step-0001", groups: [{ task: "task-00002", samples: [0] }] });
  await reserve(store, { stage: "step-0001", round: 2, groups: [{ task: "task-00007", samples: [0, 1] }] });
  await reserve(store, { stage: "step-0002", groups: [{ task: "task-00009", samples: [0] }] });
  await attempt();
  const reason = "an earlier try of the step drew it, which did not get to train";
  const run = leftOut[0]?.trajectory.split("/")[0];
  const others = [0, 1].map((sample) => ({ trajectory: `${run}/step-0001/task-00007/${sample}`, reason }));
  expect((await record())?.leftOut).toEqual([...leftOut, ...others]);
});

test("what is drawn for a step after its commit is left out by name, and the commit stands", async () => {
  const { opened, store, batch, leftOut, attempt, record: read } = await fresh();
  const places = batch.map(({ trajectory }) => trajectoryOf(trajectory));
  const groups = places.map(({ task, sample }) => ({ task, samples: [sample] }));
  await reserve(store, { stage: "step-0001", groups });
  await attempt();
  const record = await read();
  for (const sample of [0, 1]) {
    await reserve(store, {
      stage: "step-0001",
      round: 2,
      groups: [{ task: "task-00007", samples: [sample] }],
    });
    await attempt();
  }
  expect(await read()).toEqual(record);
  const trained = new Map(await collected(trainedSteps(opened))).get(1);
  const reason = "it was drawn for the step after the step had been committed";
  const run = places[0]?.run;
  const late = [0, 1].map((sample) => ({ trajectory: `${run}/step-0001/task-00007/${sample}`, reason }));
  expect(trained).toEqual({ ...record, leftOut: [...leftOut, ...late] });
});

test("killed before its commit, a step is trained again, and makes the same version", async () => {
  const { opened, folder, attempt } = await fresh();
  const { seconds: _, ...result } = await attempt();
  const committed = await weights(opened, 2);
  const tree = join(folder.root, trainedStepKey(1).tree);
  const [first = ""] = readdirSync(tree);
  const dead = first.replace(/\.\d+\./, ".4194000."); // no such process
  renameSync(join(tree, first), join(tree, dead));
  rmSync(`${tree}.json`);
  expect(await newestVersion(opened), "what was written without a commit").toBe(1);
  const { seconds: __, ...again } = await attempt();
  expect(again).toEqual(result);
  expect(await weights(opened, 2)).toEqual(committed);
  expect(await sweepRun(opened)).toEqual({ files: 0, attempts: 1 });
  expect(readdirSync(tree)).toHaveLength(1);
  expect(await weights(opened, 2)).toEqual(committed);
});

test("of two attempts one commits; the other is told, or finds its record, and changes nothing", async () => {
  const { folder, attempt, record: read } = await fresh();
  const settled = await Promise.allSettled([attempt(), attempt()]);
  const failed = settled.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
  expect(failed.every((code) => code === "ATTEMPT_SUPERSEDED")).toBe(true);
  expect(failed.length).toBeLessThan(2);
  const record = await read();
  const { seconds, metrics } = await attempt();
  expect({ seconds, metrics }).toEqual({ seconds: record?.seconds, metrics: record?.metrics });
  expect(readdirSync(join(folder.root, trainedStepKey(1).tree)), "of one attempt").toHaveLength(1);
});
