import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { trainExamples } from "../../../activities/train-examples.ts";
import type { ExampleMetrics, TrainStepResult } from "../../../src/contracts/ledger.ts";
import type { Report } from "../../../src/control/temporal/durable.ts";
import { exampleRows } from "../../../src/plan/demonstrations/example-rows.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../../src/run/folder/create-run-folder.ts";
import { openRunFolder, openRuns } from "../../../src/run/folder/open-runs.ts";
import { referenceScoresKey } from "../../../src/run/store/keys.ts";
import { trainerWorker } from "../../../src/work/workers/trainer-worker.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { folderOf, initializeVersion } from "../../support/versions.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "..", "pipelines", "small.yaml");
const common = ["dataset.train=null", "warmStart=null", "steps=null"];
const demonstrations = join(import.meta.dirname, "..", "..", "fixtures", "tool-demonstrations.jsonl");
const preferences = join(runs, "preferences.jsonl");
const asAnswer = (content: string) => [{ role: "assistant", content }];
const pairs = Array.from({ length: 12 }, (_, index) => ({
  prompt: [{ role: "user", content: `${index} + 1 =` }],
  chosen: asAnswer(`Answer: ${index + 1}`),
  rejected: asAnswer(`It might be ${index + 3}.`),
}));
writeFileSync(preferences, pairs.map((row) => `${JSON.stringify(row)}\n`).join(""));

/** A run of a plan with these overrides, and its steps, each by a worker of its own. */
async function fresh(...overrides: string[]) {
  const plan = await loadPlan(pipeline, { overrides: [...common, ...overrides] });
  const run = await openRunFolder(runs, await createRunFolder(plan, { runs }));
  await initializeVersion(run, 0);
  const step = async (
    number: number,
    report: Report = () => {},
  ): Promise<TrainStepResult<ExampleMetrics>> => {
    const worker = trainerWorker(openRuns(runs));
    const input = { run: run.id, step: number, policyVersion: number - 1 };
    try {
      return await trainExamples(worker)(input, new AbortController().signal, report);
    } finally {
      await worker.close();
    }
  };
  const weights = async (version: number) =>
    readFileSync(join(await folderOf(run, version), "model.safetensors"));
  return { run, plan, step, weights };
}

test("steps on demonstrations lower the loss of those that are held out, and go on where the one before ended", async () => {
  const sft = { demonstrations, epochs: 1, batchSize: 16, updates: 4, heldOut: 20, learningRate: 3e-3 };
  const { plan, step, weights } = await fresh(`sft=${JSON.stringify(sft)}`);
  expect(plan.steps).toBe(3); // 180 rows in updates of 16 are 12
  const said: (string | undefined)[] = [];
  const first = await step(1, (text) => said.push(text));
  const updates = ["update 1 of 4", "update 2 of 4", "update 3 of 4", "update 4 of 4"];
  expect(said).toEqual([...updates, "what is held out is scored", "the next version is saved"]);
  const second = await step(2);
  expect(first.policyVersion).toBe(1);
  expect(second.metrics).toMatchObject({ examples: 64, epoch: 128 / 180 });
  expect(second.metrics.heldOutLoss).toBeLessThan(first.metrics.heldOutLoss ?? 0);
  expect(second.metrics.learningRate).toBeLessThan(3e-3); // its schedule goes over all steps
  const made = await weights(2);
  expect(await step(2)).toEqual(second); // it is done once
  expect(await weights(2)).toEqual(made);
});

test("what is held out is drawn by the seed, and nothing of it is trained on", () => {
  const sft = { demonstrations, batchSize: 1, updates: 1, heldOut: 3, learningRate: 1 };
  const { trained, heldOut } = exampleRows({ seed: 1, sft }, 10);
  expect(heldOut).toHaveLength(3);
  expect([...trained, ...heldOut].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(exampleRows({ seed: 2, sft }, 10).heldOut).not.toEqual(heldOut);
});

test("steps on pairs put the preferred answers ahead; what the reference says of them is computed once, and of these rows alone", async () => {
  const dpo = { preferences, epochs: 6, batchSize: 5, updates: 6, heldOut: 2, learningRate: 1e-3, beta: 0.5 };
  const { run, step } = await fresh(`dpo=${JSON.stringify(dpo)}`);
  const texts: (string | undefined)[] = [];
  const first = await step(1, (text) => texts.push(text));
  expect(texts.slice(0, 2)).toEqual(["the reference scores pairs 1 to 12 of 12", "update 1 of 6"]);
  const file = join(run.folder.root, referenceScoresKey(0).path);
  const scored = statSync(file).mtimeMs;
  const scores = await run.store.read(referenceScoresKey(0));
  expect(scores?.chosen).toHaveLength(12);
  expect(Math.max(...(scores?.chosen ?? []))).toBeLessThan(-10); // sums over the answers of a random policy
  const rows = readFileSync(preferences, "utf8");
  writeFileSync(preferences, rows.split("\n").toReversed().join("\n"));
  await expect(step(2)).rejects.toMatchObject({ code: "EXAMPLES_CHANGED", retryable: false });
  writeFileSync(preferences, rows);
  const second = await step(2);
  expect(second.metrics.loss).toBeLessThan(first.metrics.loss);
  expect(second.metrics).toMatchObject({ accuracy: 1, heldOutAccuracy: 1 });
  expect(second.metrics.margin).toBeGreaterThan(first.metrics.margin ?? 0);
  expect(statSync(file).mtimeMs).toBe(scored);
});

test("the reference scores what a step wants, not the whole file before the first", async () => {
  const many = join(runs, "many.jsonl");
  const rows = Array.from({ length: 300 }, (_, index) => {
    return { ...pairs[index % 12], chosen: asAnswer(`${index} is the answer.`) };
  });
  writeFileSync(many, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const dpo = { preferences: many, epochs: 1, batchSize: 20, updates: 2, heldOut: 10, learningRate: 1e-9 };
  const { run, step } = await fresh(`dpo=${JSON.stringify(dpo)}`);
  const isScored = async (slice: number) => (await run.store.read(referenceScoresKey(slice))) !== undefined;
  const { metrics } = await step(1);
  expect(metrics.loss, "the scores are those of the pairs").toBeCloseTo(Math.LN2, 5);
  expect(metrics.heldOutLoss).toBeCloseTo(Math.LN2, 5);
  expect(await Promise.all([0, 1].map(isScored)), "10 + 40 pairs").toEqual([true, false]);
  expect((await step(2)).metrics.loss).toBeCloseTo(Math.LN2, 5);
  expect(await Promise.all([1, 2].map(isScored)), "10 + 80 pairs").toEqual([true, false]);
});

test("pairs that are wrong are told with their lines, as is what the pipeline lacks", async () => {
  const bad = join(runs, "bad.jsonl");
  const rows = [
    { prompt: [], chosen: asAnswer("a"), rejected: asAnswer("b") },
    { ...pairs[0], rejected: [{ role: "user", content: "?" }] },
  ];
  writeFileSync(bad, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await expect(fresh(`dpo=${JSON.stringify({ preferences: bad, epochs: 1 })}`)).rejects.toThrow(
    /bad\.jsonl:1:\d+.*prompt/s,
  );
  await expect(fresh(`sft=${JSON.stringify({ demonstrations })}`)).rejects.toThrow("sft lacks “epochs”");
  await expect(fresh()).rejects.toThrow("the pipeline lacks “steps”");
  const all = `sft=${JSON.stringify({ demonstrations, epochs: 1, heldOut: 200 })}`;
  await expect(fresh(all)).rejects.toThrow("none would be trained on");
});
