import { afterAll, beforeAll, expect, test } from "vitest";
import { useSwiftShader } from "../../../src/devices/swiftshader.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "../../../src/learning/batch.ts";
import { supervisedObjective } from "../../../src/learning/supervised-objective.ts";
import { freshTrainerState, type TrainerState } from "../../../src/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../src/learning/training-engine.ts";
import { gradientName, trainingModel } from "../../../src/learning/training-graphs.ts";
import type { CachedDecoder } from "../../../src/models/cached-decoder.ts";
import { createCachedDecoder } from "../../../src/models/create-cached-decoder.ts";
import { onProcessor } from "../../../src/models/key-value-memory.ts";
import { modelWeightShapes, randomModelWeights } from "../../../src/models/model-weights.ts";
import { createSession } from "../../../src/onnx/create-session.ts";
import { add } from "../../../src/onnx/elementwise.ts";
import { createGraph } from "../../../src/onnx/graph.ts";
import { modelBytes } from "../../../src/onnx/model-bytes.ts";
import { type NodeRun, profileRun } from "../../../src/onnx/profile-run.ts";
import type { Session, Tensor } from "../../../src/onnx/session.ts";
import { createDecoderCache } from "../../../src/sampling/key-value-cache.ts";
import { copyTrainerState } from "../../support/copy-trainer-state.ts";
import { smallModel } from "../../support/small-model.ts";
import { relativeError, torchFixture } from "../torch-fixtures.ts";

let kept: Session;
beforeAll(async () => {
  await useSwiftShader();
  const graph = createGraph();
  graph.output("sum", add(graph.input("number", "float32", [1]), 1));
  // With the last session all shaders go, which are compiled in software.
  kept = await createSession(modelBytes(graph), { device: "webgpu" });
});
afterAll(() => kept?.close());

/** A tiny model of a family with a ragged batch. */
async function tiny(name: string) {
  const { config, json, tensors } = await torchFixture(name, "families");
  const sequences = json.sequences as TokenSequence[];
  const batch = batchSequences(sequences, config);
  const count = batch.targets.length;
  const weights: Tensor = { shape: [count], data: new Float32Array(count).fill(1 / count) };
  const names = [...modelWeightShapes(config).keys()];
  const parameters = new Map(names.map((weight) => [weight, tensors.get(weight)!]));
  return { config, names, parameters, sequences, feeds: { ...batchFeeds(batch), weights } };
}

/** What ran on the processor although numbers went in or came out. */
function copies(runs: readonly NodeRun[]) {
  return runs.filter(({ op }) => op === "MemcpyToHost" || op === "FusedMatMul" || op === "LogSoftmax");
}

test.each(["qwen3", "gemma"])("%s: loss and gradients on WebGPU are those of the CPU", async (name) => {
  const { config, names, parameters, feeds } = await tiny(name);
  const all = { ...Object.fromEntries(parameters), ...feeds };
  const processor = await createSession(trainingModel({ config }, supervisedObjective).bytes);
  const model = trainingModel({ config }, supervisedObjective, { device: "webgpu" });
  const expected = await processor.run(all);
  const { nodes, floats } = await profileRun(model.bytes, all, "webgpu");
  expect(floats.get("loss")![0]).toBeCloseTo(expected.floats("loss")[0]!, 5);
  for (const weight of names) {
    const output = gradientName(weight);
    expect(relativeError(floats.get(output)!, expected.floats(output)), weight).toBeLessThan(1e-5);
  }
  expect(copies(nodes)).toEqual([]);
});

test.each([
  ["all weights", undefined],
  ["an adapter", { rank: 2, alpha: 4, targets: ["q_proj", "down_proj"] }],
] as const)("an engine that trains %s on the card ends up where the CPU's does", async (_, lora) => {
  const { config, parameters, sequences } = await tiny("smollm2");
  const model = lora ? { config, lora: { ...lora, targets: [...lora.targets] } } : { config };
  const samples = sequences.map((sequence) => {
    const count = sequence.mask.filter((marked) => marked === 1).length;
    return { sequences: [sequence], columns: { weights: new Float32Array(count).fill(0.1) } };
  });
  const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 1e-3 };
  const open = (device: "cpu" | "webgpu") =>
    createTrainingEngine({
      ...model,
      state: copyTrainerState(freshTrainerState(model, parameters, 1)),
      device,
      gradientClip: 1,
      weightDecay: 0.1,
      // Less than a minibatch, so that gradients of several runs add up.
      maxTokensPerRun: 12,
    });
  const [processor, card] = [open("cpu"), open("webgpu")];
  for (let update = 1; update <= 3; update++) {
    const expected = await processor.update(request);
    const actual = await card.update(request);
    expect(Math.abs(actual.loss / expected.loss - 1)).toBeLessThan(1e-5);
    expect(Math.abs(actual.gradientNorm / expected.gradientNorm - 1)).toBeLessThan(1e-4);
  }
  const [expected, actual] = [
    await processor.score(sequences, "policy"),
    await card.score(sequences, "policy"),
  ];
  expected.forEach(({ logProbabilities }, index) => {
    expect(relativeError(actual[index]!.logProbabilities, logProbabilities)).toBeLessThan(1e-5);
  });
  await card.settle();
  expect(card.state.updates).toBe(3);
  const ends = (state: TrainerState) => new Map([...state.weights, ...state.adapter]);
  for (const [name, { data }] of ends(processor.state)) {
    expect(relativeError(ends(card.state).get(name)!.data, data), name).toBeLessThan(1e-4);
  }
  await processor.close();
  await card.close();
});

/** Two prompts, and a token after each: the logits of both runs, and all keys and values. */
async function twoRuns(model: CachedDecoder): Promise<Float32Array[]> {
  const cache = createDecoderCache(model);
  cache.arrange([-1, -1], [6, 6]);
  const run = async (tokens: number[][], length: number) => {
    const past = { ...cache.view(0, 2), capacity: cache.capacity(), lengths: [length, length] };
    return (await model.run({ tokens, past })).logits.slice();
  };
  const prompts = [
    [3, 14, 15, 9, 26],
    [27, 18, 28, 18, 28],
  ];
  const logits = [await run(prompts, 0), await run([[4], [5]], 5)];
  const { keys, values } = cache.view(0, 2);
  return [...logits, ...[...keys, ...values].map((numbers) => Float32Array.from(onProcessor(numbers)))];
}

test("a prompt and the token after it give the CPU's logits, keys and values on WebGPU", async () => {
  const config = smallModel(64);
  const weights = randomModelWeights(config, 1);
  const [processor, card] = [
    await createCachedDecoder(config, { tensors: weights }, { threads: 2 }),
    await createCachedDecoder(config, { tensors: weights }, { threads: 2, target: { device: "webgpu" } }),
  ];
  const [expected, actual] = [await twoRuns(processor), await twoRuns(card)];
  for (const [index, numbers] of expected.entries()) {
    expect(relativeError(actual[index]!, numbers)).toBeLessThan(1e-5);
  }
  await processor.close();
  await card.close();
});
