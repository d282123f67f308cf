import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { trainStep } from "../../../activities/train-step.ts";
import type { BatchMember } from "../../../src/contracts/activities.ts";
import type { Segment } from "../../../src/contracts/generated/segment.ts";
import type { TrainedStep } from "../../../src/contracts/ledger.ts";
import { readRecord } from "../../../src/files/whole-files.ts";
import { reserve } from "../../../src/ledger/reservations.ts";
import { readTrainedSteps } from "../../../src/ledger/trained-steps.ts";
import { loadPlan } from "../../../src/pipeline/load-plan.ts";
import { loadPolicy } from "../../../src/plugins/registry.ts";
import { trainerWorker } from "../../../src/roles/trainer-worker.ts";
import { createRun } from "../../../src/runs/create-run.ts";
import { openRun } from "../../../src/runs/open-runs.ts";
import { segmentRef } from "../../../src/trajectory/segments.ts";
import { trajectoryOf } from "../../../src/trajectory/trajectory-of.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writeTurn } from "../../support/written-turn.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "..", "pipelines", "small.yaml");
const plan = await loadPlan(pipeline, { overrides: ["trainer.config.minibatchSize=2"] });

/** A run whose warm start is done, and a batch for its first step. */
async function fresh() {
  const run = await createRun(plan, runs, undefined, false);
  const { folder, store } = await openRun(runs, run);
  for (const version of [0, 1]) {
    mkdirSync(folder.policy(version), { recursive: true });
    await (await loadPolicy(plan.policy)).initialize(folder.policy(version), plan.policy.config, plan.seed);
  }
  const batch: BatchMember[] = [];
  for (const sample of [0, 1]) {
    const prompt: Segment = { previous: null, origin: "prompt", text: "?", tokens: [5, 6, 7] };
    const logprobs = [-3, -3];
    const tokens = [8 + sample, 2];
    const action: Segment = {
      ...{ previous: segmentRef(prompt), origin: "action", text: "!", tokens, logprobs, policyVersion: 1 },
    };
    const place = { stage: "step-0001", task: `task-0000${sample}`, sample: 0 };
    const head = await writeTurn(store, place, 1, [prompt, action]);
    const trajectory = `${run}/step-0001/task-0000${sample}/0`;
    batch.push({ trajectory, head, reward: sample, group: `task-0000${sample}` });
  }
  const leftOut = [{ trajectory: `${run}/step-0001/task-00002/0`, reason: "calculator: the host is down" }];
  const attempt = async () => {
    const worker = trainerWorker(runs);
    try {
      return await trainStep(worker)({ run, step: 1, policyVersion: 1, batch, leftOut });
    } finally {
      await worker.close();
    }
  };
  return { folder, store, batch, leftOut, attempt };
}

const weights = (folder: string) => readFileSync(join(folder, "model.safetensors"));

test("the step's record says what became of each trajectory, and which files it committed", async () => {
  const { folder, batch, leftOut, attempt } = await fresh();
  const result = await attempt();
  const record = await readRecord<TrainedStep>(folder.trainedStep(1));
  expect(record).toMatchObject({ step: 1, from: 1, policyVersion: 2, trajectories: batch, leftOut });
  expect(result).toEqual({ policyVersion: 2, metrics: record?.metrics, seconds: record?.seconds });
  const { size } = statSync(join(folder.policy(2), "model.safetensors"));
  expect(record?.files?.["policies/v0002/model.safetensors"]).toBe(size);
  expect(record?.files).toHaveProperty("trainer/v0002/optimizer.safetensors");
});

test("what an earlier try of the step reserved, and the one that trains did not need, is left out with the reason", async () => {
  const { folder, store, leftOut, attempt } = await fresh();
  await reserve(store, { stage: "step-0001", groups: [{ task: "task-00002", samples: [0] }] });
  await reserve(store, { stage: "step-0001", round: 2, groups: [{ task: "task-00007", samples: [0, 1] }] });
  await reserve(store, { stage: "step-0002", groups: [{ task: "task-00009", samples: [0] }] });
  await attempt();
  const record = await readRecord<TrainedStep>(folder.trainedStep(1));
  const reason = "an earlier try of the step drew it, which did not get to train";
  const run = leftOut[0]?.trajectory.split("/")[0];
  const others = [0, 1].map((sample) => ({ trajectory: `${run}/step-0001/task-00007/${sample}`, reason }));
  expect(record?.leftOut).toEqual([...leftOut, ...others]);
});

test("what is drawn for a step after its commit is left out by name, and the commit stands", async () => {
  const { folder, store, batch, leftOut, attempt } = await fresh();
  const places = batch.map(({ trajectory }) => trajectoryOf(trajectory));
  const groups = places.map(({ task, sample }) => ({ task, samples: [sample] }));
  await reserve(store, { stage: "step-0001", groups });
  await attempt();
  const record = await readRecord<TrainedStep>(folder.trainedStep(1));
  for (const sample of [0, 1]) {
    await reserve(store, {
      stage: "step-0001",
      round: 2,
      groups: [{ task: "task-00007", samples: [sample] }],
    });
    await attempt();
  }
  expect(await readRecord(folder.trainedStep(1))).toEqual(record);
  const trained = (await readTrainedSteps({ folder, store })).get(1);
  const reason = "it was drawn for the step after the step had been committed";
  const run = places[0]?.run;
  const late = [0, 1].map((sample) => ({ trajectory: `${run}/step-0001/task-00007/${sample}`, reason }));
  expect(trained).toEqual({ ...record, leftOut: [...leftOut, ...late] });
});

test("killed at any moment of the commit, the next attempt has the same version, and never half of it", async () => {
  const { folder, attempt } = await fresh();
  const result = await attempt();
  const committed = weights(folder.policy(2));
  const { attempt: id = "" } = (await readRecord<TrainedStep>(folder.trainedStep(1))) ?? {};
  const parts = [folder.trainer(2), folder.policy(2)];
  const unname = (paths: string[]) => {
    for (const path of paths) renameSync(path, `${path}.${id}.tmp`);
  };

  for (const unnamed of [parts, parts.slice(1)]) {
    unname(unnamed); // killed after the record, before these had their names
    expect(await attempt()).toEqual(result);
    expect(weights(folder.policy(2))).toEqual(committed);
    expect(parts.map((path) => existsSync(path))).toEqual([true, true]);
  }

  unname(parts); // killed before the record: the folders are nobody's
  rmSync(folder.trainedStep(1));
  const { seconds: _, ...again } = await attempt();
  expect(again).toEqual({ policyVersion: 2, metrics: result.metrics });
  expect(weights(folder.policy(2)), "the same step makes the same version").toEqual(committed);
});

test("of two attempts one commits; the other is told, or finds its record, and changes nothing", async () => {
  const { folder, attempt } = await fresh();
  const settled = await Promise.allSettled([attempt(), attempt()]);
  const failed = settled.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
  expect(failed.every((code) => code === "ATTEMPT_SUPERSEDED")).toBe(true);
  expect(failed.length).toBeLessThan(2);
  const record = await readRecord<TrainedStep>(folder.trainedStep(1));
  const { seconds, metrics } = await attempt();
  expect({ seconds, metrics }).toEqual({ seconds: record?.seconds, metrics: record?.metrics });
  expect(readdirSync(join(folder.root, "policies")).sort()).toEqual(["v0000", "v0001", "v0002"]);
});
