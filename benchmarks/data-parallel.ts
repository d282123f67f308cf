// Seconds of a step of an adapter with one trainer and with two, which take turns, each in a run of its own.
// node benchmarks/data-parallel.ts [--rounds 5] [--trajectories 16] [--tokens 512] [--portions 4] [--hidden 512] [--layers 8]
//   [--store s3://bucket/prefix] [--json]
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { defined } from "../src/base/records/defined.ts";
import type { TrainStepInput } from "../src/contracts/activities.ts";
import type { Segment } from "../src/contracts/generated/segment.ts";
import type { BatchMember } from "../src/contracts/ledger.ts";
import { stepStage } from "../src/contracts/stages.ts";
import { loadPlan } from "../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../src/run/folder/create-run-folder.ts";
import { type OpenRun, openRunFolder } from "../src/run/folder/open-runs.ts";
import { folderOfStore } from "../src/run/folder/store-runs.ts";
import { segmentRef } from "../src/run/projections/segment-ref.ts";
import { trainedStepKey } from "../src/run/store/keys.ts";
import { initializeVersion } from "../tests/support/versions.ts";
import { writeScore } from "../tests/support/written-score.ts";
import { writeTurn } from "../tests/support/written-turn.ts";
import { median } from "./shapes.ts";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    trajectories: { type: "string", default: "16" },
    tokens: { type: "string", default: "512" },
    portions: { type: "string", default: "4" },
    hidden: { type: "string", default: "512" },
    layers: { type: "string", default: "8" },
    store: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const [rounds, trajectories, tokens] = [options.rounds, options.trajectories, options.tokens].map(Number);
if (!rounds || !trajectories || !tokens)
  throw new Error("rounds, trajectories and tokens are positive numbers");
const hidden = Number(options.hidden);
const counts = [1, 2] as const;

const plan = await loadPlan(join(import.meta.dirname, "../tests/pipelines/small.yaml"), {
  overrides: [
    `policy.config.architecture=${JSON.stringify({
      hidden_size: hidden,
      num_hidden_layers: Number(options.layers),
      num_attention_heads: hidden / 64,
      num_key_value_heads: hidden / 128,
      intermediate_size: 3 * hidden,
      max_position_embeddings: tokens,
    })}`,
    `trainer.config=${JSON.stringify({
      algorithm: "dr-grpo",
      lora: { rank: 16, alpha: 32 },
      minibatchSize: trajectories,
      dataParallel: Number(options.portions),
      threads: 1,
    })}`,
    `rollout.batchSize=${trajectories}`,
    "rollout.groupSize=2",
  ],
});
const runs =
  options.store === undefined
    ? mkdtempSync(join(tmpdir(), "everturn-data-parallel-"))
    : await folderOfStore(options.store);

/** Records the trajectories of a step. Their tokens are the same in all runs. */
async function batchOf({ id, store }: OpenRun, number: number): Promise<BatchMember[]> {
  const batch: BatchMember[] = [];
  for (let index = 0; index < trajectories; index++) {
    const place = { stage: stepStage(number), task: `task-${index >> 1}`, sample: index & 1 };
    const drawn = (from: number, to: number, salt: number) =>
      Array.from({ length: to - from }, (_, at) => 10 + (((from + at) * 37 + salt * 101 + number * 7) % 200));
    const begin = tokens >> 2;
    const text = "…";
    const prompt: Segment = {
      previous: null,
      origin: "prompt",
      text,
      tokens: drawn(0, begin, index >> 1),
    };
    const action: Segment = {
      previous: segmentRef(prompt),
      origin: "action",
      text,
      tokens: drawn(begin, tokens, index),
      logprobs: new Array<number>(tokens - begin).fill(-5),
      policyVersion: number,
    };
    const head = await writeTurn(store, place, 1, [prompt, action]);
    const reward = index & 1;
    await writeScore(store, place, { head, reward });
    const trajectory = `${id}/${place.stage}/${place.task}/${place.sample}`;
    batch.push({ trajectory, head, reward, group: place.task });
  }
  return batch;
}

/** A run whose steps some trainers take together. */
async function sharedRun(trainers: number) {
  const run = await createRunFolder(plan, defined({ runs, store: options.store }));
  const opened = await openRunFolder(runs, run);
  for (const version of [0, 1]) await initializeVersion(opened, version);
  const script = join(import.meta.dirname, "data-parallel/trainer.ts");
  const processes = Array.from({ length: trainers }, () => fork(script, [runs]));
  return { opened, processes, seconds: [] as number[] };
}

/** Has all trainers of a run take a step. Returns the seconds until one of them has committed it. */
async function step({ opened, processes }: Awaited<ReturnType<typeof sharedRun>>, number: number) {
  const batch = await batchOf(opened, number);
  const input: TrainStepInput = {
    run: opened.id,
    step: number,
    policyVersion: number,
    batch,
    minGroup: 1,
    leftOut: [],
  };
  const started = performance.now();
  const answers = processes.map((trainer) => answer(trainer, input));
  await Promise.race(answers);
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(answers);
  return seconds;
}

async function answer(trainer: ChildProcess, input: TrainStepInput): Promise<void> {
  trainer.send(input);
  const ended = once(trainer, "exit").then(([code]) => {
    throw new Error(`a trainer ended with ${code}`);
  });
  await Promise.race([once(trainer, "message"), ended]);
}

const all = await Promise.all(counts.map(sharedRun));
try {
  for (let round = 0; round <= rounds; round++) {
    for (const shared of all) {
      const seconds = await step(shared, round + 1);
      if (round > 0) shared.seconds.push(seconds); // the first step opens the model
      process.stderr.write(`${shared.processes.length} trainers: ${seconds.toFixed(2)} s\n`);
    }
  }
  const versions = await Promise.all(
    all.map(({ opened }) => opened.store.readTree(trainedStepKey(rounds + 1))),
  );
  const [made, other] = versions.map((tree) => tree?.files["policy/adapter_model.safetensors"]?.sha256);
  if (made === undefined || made !== other) throw new Error("two trainers made another version than one");
  const [alone = [], together = []] = all.map(({ seconds }) => seconds);
  const ratio = (of: (seconds: number[]) => number) => of(alone) / of(together) / counts[1];
  const smallest = (seconds: number[]) => Math.min(...seconds);
  const spread = (seconds: number[]) => [smallest(seconds), median(seconds)];
  const result = {
    seconds: { one: spread(alone), two: spread(together) },
    linear: [ratio(smallest), ratio(median)],
  };
  const shown = (numbers: number[]) => numbers.map((number) => number.toFixed(2)).join(", ");
  process.stdout.write(
    `seconds of a step, minimum and median: ${shown(result.seconds.one)} with one trainer, ` +
      `${shown(result.seconds.two)} with two; ${shown(result.linear)} of linear\n`,
  );
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
} finally {
  for (const { processes } of all) for (const trainer of processes) trainer.kill();
  if (options.store === undefined) rmSync(runs, { recursive: true });
}
