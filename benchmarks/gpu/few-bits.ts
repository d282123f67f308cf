// A base of few bits on one device against the CPU, in a process of its own: arguments: device, shape, int8 or int4. Prints a line of JSON: the largest
// difference of decoders' logits by precision, as compare.ts has them; and by precision, of two updates of an adapter, the losses, the norms of
// gradients and the largest gap of log-probabilities after them.

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defined } from "../../src/base/records/defined.ts";
import { devices } from "../../src/engine/devices/device.ts";
import { useSwiftShader } from "../../src/engine/devices/swiftshader.ts";
import { supervisedObjective } from "../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState } from "../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../src/engine/learning/training-engine.ts";
import type { TrainedModel } from "../../src/engine/learning/training-graphs.ts";
import { writeWeights } from "../../src/engine/models/weights/checkpoint.ts";
import { quantizationOf, quantizeWeights } from "../../src/engine/models/weights/quantize.ts";
import { quantizedTensors } from "../../src/engine/models/weights/quantized-tensors.ts";
import { readFrozenWeights, weightSources } from "../../src/engine/models/weights/weight-sources.ts";
import type { Target } from "../../src/engine/onnx/target.ts";
import { configs, gpuShapes, realShapes, shapes } from "../shapes.ts";
import { benchmarkBatch, loraSettings, repeatedWeights } from "../train/workload.ts";
import { compareDecoders, precisionsOf } from "./decoders.ts";

const [deviceName, shapeName, kind, software] = process.argv.slice(2);
const device = devices.find((name) => name === deviceName) ?? "cpu";
const shape = [...shapes, ...gpuShapes, ...realShapes].find((name) => name === shapeName) ?? "tiny";
if (software === "swiftshader") await useSwiftShader();

const config = configs[shape];
const parent = await mkdtemp(join(tmpdir(), "everturn-few-bits-"));
const folder = join(parent, "policy");
await mkdir(folder);
const { tensors, quantized } = await quantizeWeights(repeatedWeights(config), quantizationOf(kind) ?? "int8");
await writeWeights(folder, new Map([...tensors, ...quantizedTensors(quantized)]));

/** Two updates of an adapter, and what the policy says after them. */
async function trained(target: Target) {
  const { weights, base } = await readFrozenWeights(folder);
  const model = defined<TrainedModel>({ config, lora: loraSettings, base });
  const state = freshTrainerState(model, weights, 1);
  const threads = availableParallelism();
  const engine = createTrainingEngine({
    ...model,
    ...target,
    state,
    threads,
    gradientClip: 1,
    weightDecay: 0,
  });
  const sequences = benchmarkBatch(shape, true, [2, 128]);
  const samples = sequences.map((sequence) => ({
    sequences: [sequence],
    columns: { weights: new Float32Array(sequence.mask.filter((marked) => marked === 1).length).fill(0.01) },
  }));
  const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 1e-3 };
  const updates = [];
  for (let update = 0; update < 2; update++) {
    const { loss, gradientNorm } = await engine.update(request);
    updates.push({ loss, gradientNorm });
  }
  const scores = await engine.score(sequences, "policy");
  await engine.close();
  return { updates, scores: scores.map(({ logProbabilities }) => logProbabilities) };
}

function largestGap(actual: readonly Float32Array[], expected: readonly Float32Array[]): number {
  const gaps = expected.flatMap((row, at) =>
    Array.from(row, (value, to) => Math.abs(actual[at]![to]! - value)),
  );
  return gaps.reduce((most, gap) => Math.max(most, gap), 0);
}

const decoders = await compareDecoders(config, await weightSources(folder), device);
const onCpu = await trained({});
const updates: Record<string, object> = {};
for (const precision of precisionsOf(device)) {
  const actual = await trained({ device, precision });
  updates[precision] = { updates: actual.updates, gap: largestGap(actual.scores, onCpu.scores) };
}
await rm(parent, { recursive: true });
console.log(JSON.stringify({ device, shape, kind, decoders, cpu: onCpu.updates, updates }));
