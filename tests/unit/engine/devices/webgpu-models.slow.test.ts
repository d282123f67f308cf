import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { passGradients } from "../../../../src/engine/learning/pass-gradients.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState, type TrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import { gradientName, trainingModel } from "../../../../src/engine/learning/training-graphs.ts";
import type { CachedDecoder, DecoderOptions } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createPlainDecoder } from "../../../../src/engine/models/decode/cpu/plain-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { createWebgpuDecoder } from "../../../../src/engine/models/decode/webgpu/webgpu-decoder.ts";
import { modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import type { Tensor } from "../../../../src/engine/onnx/model-session.ts";
import { type ProfiledNode, profilePass } from "../../../../src/engine/onnx/profile-pass.ts";
import { runtimeFunctions } from "../../../../src/engine/onnx/runtime-functions.ts";
import { createDecoderCache } from "../../../../src/engine/sampling/key-value-cache.ts";
import { cardAdapter, cardModels } from "../../../support/card-model.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { decoderTalk } from "../../../support/decoder-talk.ts";
import { keepSwiftShader } from "../../../support/kept-swiftshader.ts";
import { relativeError, torchFixture } from "../../torch-fixtures.ts";

keepSwiftShader();

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
function copies(runs: readonly ProfiledNode[]) {
  return runs.filter(({ op }) => op === "MemcpyToHost" || op === "FusedMatMul" || op === "LogSoftmax");
}

test.each(["qwen3", "gemma"])("%s: loss and gradients on WebGPU are those of the CPU", async (name) => {
  const { config, names, parameters, feeds } = await tiny(name);
  const all = { ...Object.fromEntries(parameters), ...feeds };
  const ofProcessor = trainingModel({ config }, supervisedObjective);
  const processor = await createModelSession(ofProcessor.bytes);
  const model = trainingModel({ config }, supervisedObjective, { device: "webgpu" });
  const expected = await processor.run(all);
  const gradients = passGradients(ofProcessor, expected, all);
  const { nodes, floats } = await profilePass(model.bytes, all, "webgpu");
  expect(floats.get("loss")![0]).toBeCloseTo(expected.floats("loss")[0]!, 5);
  for (const weight of names) {
    const found = floats.get(gradientName(weight))!;
    expect(relativeError(found, gradients.get(weight)!), weight).toBeLessThan(1e-5);
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

test.each([
  ...cardModels.filter(([name]) => name !== "qwen2"),
  ["llama with an adapter", cardModels[0][1]] as const,
])("%s: a decoder on WebGPU says what the processor's does, in any batch", async (name, config) => {
  const adapter = name.endsWith("adapter") ? cardAdapter(config) : undefined;
  const sources = { tensors: randomModelWeights(config, 3) };
  const options: DecoderOptions = defined({ threads: 2, adapter: adapter?.shape });
  const processor = await createCachedDecoder(config, sources, options);
  const expected = await decoderTalk(processor, adapter?.tensors, 1);
  await processor.close();
  const onCard = { ...options, target: { device: "webgpu" } } as const;
  const runtime = (await runtimeFunctions()) ?? expect.unreachable("ONNX Runtime's C API can't be called");
  const open = [
    ...(name === "qwen3" ? [] : [() => createPlainDecoder(config, sources, onCard)]),
    // Gemma's capped scores are no matter for the card's operator. SwiftShader has it right for less than 32 tokens.
    ...(name === "gemma2" ? [] : [async () => createWebgpuDecoder(runtime, config, sources, onCard)]),
  ];
  for (const create of open) {
    const card = await create();
    const said = await decoderTalk(card, adapter?.tensors, 1);
    said.forEach((numbers, at) => {
      expect(relativeError(numbers, expected[at]!), `run ${at}`).toBeLessThan(1e-5);
    });
    await card.close();
  }
});

test("where the card's operator of attention is wrong, as on SwiftShader for long prompts, it is not used", async () => {
  const [[, config]] = cardModels;
  const sources = { tensors: randomModelWeights(config, 3) };
  const prompts = [70, 40].map((length, row) =>
    Array.from({ length }, (_, at) => (at * 37 + row * 11) % 128),
  );
  const read = async (decoder: CachedDecoder) => {
    const cache = createDecoderCache(decoder);
    cache.arrange([-1, -1], [70, 70]);
    const past = { ...cache.view(0, 2), capacity: cache.capacity(), lengths: [0, 0] };
    const logits = (await decoder.run({ tokens: prompts, past })).logits.slice();
    await decoder.close();
    return logits;
  };
  const expected = await read(await createCachedDecoder(config, sources, { threads: 2 }));
  const onCard = { threads: 2, target: { device: "webgpu" } } as const;
  const runtime = (await runtimeFunctions()) ?? expect.unreachable("ONNX Runtime's C API can't be called");
  expect(
    relativeError(await read(await createWebgpuDecoder(runtime, config, sources, onCard)), expected),
  ).toBeGreaterThan(1e-3);
  expect(
    relativeError(await read(await createCachedDecoder(config, sources, onCard)), expected),
  ).toBeLessThan(1e-5);
});
