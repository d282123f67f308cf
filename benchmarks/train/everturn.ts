// Everturn's side of benchmarks/train.ts and gpu.ts: what peers/train.py does, on this engine.
// Arguments: folder, updates, threads, device, precision, updates before those that are measured, MB that the process may hold.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../../src/base/records/defined.ts";
import { policyObjective } from "../../src/engine/learning/policy-objective.ts";
import { stepPlanText } from "../../src/engine/learning/step-plan.ts";
import { freshTrainerState, type TrainerState } from "../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../src/engine/learning/training-engine.ts";
import type { TrainedModel } from "../../src/engine/learning/training-graphs.ts";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { readFrozenWeights } from "../../src/engine/models/weights/weight-sources.ts";
import { targetOf } from "../../src/engine/onnx/target.ts";
import { productOperations } from "./matrix-products.ts";
import { peakMemory } from "./peak-memory.ts";
import { type BenchmarkSequence, loraSettings } from "./workload.ts";

const importedBytes = peakMemory();
const [
  folder = ".",
  updates = "1",
  threads = "2",
  device = "cpu",
  precision = "float32",
  warm = "2",
  megabytes,
] = process.argv.slice(2);

const config = await readModelConfig(join(folder, "config.json"));
const lora = existsSync(join(folder, "lora.json")) && { lora: loraSettings };
const { model, state } = await openModel();
const batch: BenchmarkSequence[] = JSON.parse(await readFile(join(folder, "batch.json"), "utf8"));
const objective = policyObjective({ ratio: "token", clipLow: 0.2, clipHigh: 0.2, entropyCoefficient: 0 });
const engine = createTrainingEngine(
  defined({
    ...model,
    state,
    threads: Number(threads),
    ...targetOf({ device, precision }),
    memory: megabytes !== undefined ? 1e6 * Number(megabytes) : undefined,
    onPlan: (plan) => process.stderr.write(`${stepPlanText(plan)}\n`),
    gradientClip: 1,
    weightDecay: 0.01,
  }),
);

const actions = batch.flatMap(({ mask }) => mask).filter(Boolean).length;
const samples = batch.map((sequence) => {
  const column = (of: (at: number) => number) =>
    Float32Array.from(sequence.mask.flatMap((marked, at) => (marked === 1 ? [of(at)] : [])));
  const share = column(() => 1 / actions);
  return {
    sequences: [sequence],
    columns: {
      weights: share,
      policyWeights: share,
      shares: share,
      oldLogProbabilities: column((at) => sequence.logprobs[at] ?? 0),
      advantages: column((at) => sequence.advantages[at] ?? 0),
    },
  };
});

/** The weights are held by the state alone. */
async function openModel(): Promise<{ model: TrainedModel; state: TrainerState }> {
  const { weights, base } = await readFrozenWeights(folder);
  const trained: TrainedModel = defined({ config, ...lora, base });
  return { model: trained, state: freshTrainerState(trained, weights, 2) };
}

const update = () => engine.update({ objective, samples, scalars: {}, learningRate: 1e-5 });
const milliseconds: number[] = [];
const processorSeconds: number[] = [];
const results: { loss: number; gradientNorm: number }[] = [];
for (let count = -Number(warm); count < Number(updates); count++) {
  const [start, before] = [performance.now(), process.cpuUsage()];
  results.push(await update());
  const used = process.cpuUsage(before);
  if (count < 0) continue;
  milliseconds.push(performance.now() - start);
  processorSeconds.push((used.user + used.system) / 1e6);
}
const { loss, gradientNorm } = results[0]!;
const peakBytes = peakMemory();
await engine.close();
const operations = device === "cpu" ? productOperations(model, objective, batch) : undefined;
const measured = { milliseconds, processorSeconds, peakBytes, importedBytes, loss, gradientNorm, operations };
console.log(JSON.stringify(measured));
