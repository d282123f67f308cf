// One device against the CPU, in a process of its own: arguments: device, shape. Prints a line of JSON: the largest
// difference of the gradients and of a decoding step's logits (over the largest number), and what ran off the device; and
// the same of logits by the device's decoders: of prompts, a token after them, and a part of a prompt.
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { devices } from "../../src/engine/devices/device.ts";
import { useSwiftShader } from "../../src/engine/devices/swiftshader.ts";
import { batchFeeds, batchSequences } from "../../src/engine/learning/batch.ts";
import { passGradients } from "../../src/engine/learning/pass-gradients.ts";
import { supervisedObjective } from "../../src/engine/learning/supervised-objective.ts";
import { gradientName, trainingModel } from "../../src/engine/learning/training-graphs.ts";
import { plainDecoderFeeds } from "../../src/engine/models/decode/cpu/plain-decoder-feeds.ts";
import { plainDecoderGraph } from "../../src/engine/models/decode/cpu/plain-decoder-graph.ts";
import { writeSafetensors } from "../../src/engine/models/weights/safetensors.ts";
import { weightSources } from "../../src/engine/models/weights/weight-sources.ts";
import { createModelSession } from "../../src/engine/onnx/create-model-session.ts";
import { modelBytes } from "../../src/engine/onnx/model-bytes.ts";
import type { Outputs, Tensor } from "../../src/engine/onnx/model-session.ts";
import { fallbacks, profilePass } from "../../src/engine/onnx/profile-pass.ts";
import { configs, gpuShapes, shapes } from "../shapes.ts";
import { benchmarkBatch, repeatedWeights } from "../train/workload.ts";
import { compareDecoders, relativeDifference } from "./decoders.ts";

const [deviceName, shapeName, software] = process.argv.slice(2);
const device = devices.find((name) => name === deviceName) ?? "cpu";
const shape = [...shapes, ...gpuShapes].find((name) => name === shapeName) ?? "tiny";
if (software === "swiftshader") await useSwiftShader();

const config = configs[shape];
const weights = repeatedWeights(config);
const written = await mkdtemp(join(tmpdir(), "everturn-compare-"));
await writeSafetensors(join(written, "model.safetensors"), weights);
const sources = await weightSources(written);
const mapped = sources.folder === undefined ? {} : { weightsFolder: sources.folder };
const threads = availableParallelism();
const sequences = benchmarkBatch(shape, false, [software === undefined ? 2 : 1, 128]); // in software each takes seconds

type Feeds = Record<string, Tensor>;

/** A model to compare; `complete` adds to its outputs what it gives apart. */
interface Compared {
  bytes: Uint8Array;
  complete?: (outputs: Outputs) => void;
}

/** Runs a model on both; returns the largest relative difference of its float outputs, and the device's fallbacks. */
async function compare(
  modelFor: (target: { device: typeof device }) => Compared,
  feeds: Feeds,
  outputs: string[],
) {
  const { bytes, complete } = modelFor({ device: "cpu" });
  const processor = await createModelSession(bytes, { threads, ...mapped });
  const expected = await processor.run(feeds, complete ? undefined : outputs);
  complete?.(expected);
  const actual = await profilePass(modelFor({ device }).bytes, feeds, device, mapped.weightsFolder);
  const differences = outputs.map((name) =>
    relativeDifference(actual.floats.get(name)!, expected.floats(name)),
  );
  await processor.close();
  return { difference: Math.max(...differences), fallbacks: fallbacks(actual.nodes) };
}

function trainStep() {
  const batch = batchSequences(sequences, config);
  const count = batch.targets.length;
  const shares: Tensor = { shape: [count], data: new Float32Array(count).fill(1 / count) };
  const feeds = { ...Object.fromEntries(weights), ...batchFeeds(batch), weights: shares };
  const outputs = [...weights.keys()].map(gradientName);
  const modelFor = (target: { device: typeof device }): Compared => {
    const model = trainingModel({ config }, supervisedObjective, target);
    return { bytes: model.bytes, complete: (given) => void passGradients(model, given, feeds) };
  };
  return compare(modelFor, feeds, outputs);
}

/** One step of decoding: a token for each of four rows, after 15 remembered ones. */
function decodingStep() {
  const [rows, capacity] = [4, 16];
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  const graph = plainDecoderGraph(config, sources);
  const past = { keys: [], values: [], capacity, lengths: new Array(rows).fill(capacity - 1) };
  const tokens = Array.from({ length: rows }, (_, row) => [row * 31]);
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const remembered = (kind: string, start: number) =>
    Array.from({ length: layers }, (_, layer): [string, Tensor] => [
      `${kind}${layer}`,
      {
        shape: [rows, heads, capacity, size],
        data: Float32Array.from({ length: rows * heads * capacity * size }, (_number, at) =>
          Math.sin(at + layer + start),
        ),
      },
    ]);
  const feeds: Feeds = {
    ...plainDecoderFeeds(config, { tokens, length: 1, past }, inputs),
    ...Object.fromEntries([...remembered("keys", 0), ...remembered("values", 0.5)]),
    inverseTemperatures: { shape: [rows, 1], data: new Float32Array(rows).fill(1) },
  };
  return compare((target) => ({ bytes: modelBytes(graph, target) }), feeds, ["logits"]);
}

const compared = {
  train: await trainStep(),
  decoding: await decodingStep(),
  decoders: await compareDecoders(config, sources, device),
};
await rm(written, { recursive: true });
console.log(JSON.stringify({ device, shape, ...compared }));
