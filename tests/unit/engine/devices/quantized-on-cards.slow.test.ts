import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import type { TrainedModel } from "../../../../src/engine/learning/training-graphs.ts";
import { createPlainDecoder } from "../../../../src/engine/models/decode/cpu/plain-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { createWebgpuDecoder } from "../../../../src/engine/models/decode/webgpu/webgpu-decoder.ts";
import { readFrozenWeights, weightSources } from "../../../../src/engine/models/weights/weight-sources.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { frozenLinear } from "../../../../src/engine/onnx/frozen-matrix.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import type { QuantizedMatrix } from "../../../../src/engine/onnx/quantized-matrix.ts";
import { runtimeFunctions } from "../../../../src/engine/onnx/runtime-functions.ts";
import { cardAdapter, cardModels } from "../../../support/card-model.ts";
import { decoderTalk } from "../../../support/decoder-talk.ts";
import { keepSwiftShader } from "../../../support/kept-swiftshader.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { noise } from "../onnx/finite-differences.ts";

keepSwiftShader();

const [[, config]] = cardModels;
const adapter = cardAdapter(config);
const options = { threads: 2, adapter: adapter.shape };
const kinds = ["int8", "int4"] as const;

test.each([
  [4, false],
  [4, true],
  [8, true],
] as const)(
  "a matrix of %i bits (minimums: %s) that is widened on CUDA is the processor's",
  async (bits, hasMinimums) => {
    const [out, input, block] = [24, 96, 32];
    const weight: QuantizedMatrix = defined({
      shape: [out, input],
      bits,
      block,
      values: Uint8Array.from({ length: (out * input * bits) / 8 }, (_, at) => (at * 151) & 255),
      scales: noise((out * input) / block, 3),
      minimums: hasMinimums ? noise((out * input) / block, 4) : undefined,
    });
    const graph = createGraph();
    graph.output("y", frozenLinear(graph.input("x", "float32", ["rows", input]), weight));
    const x = { shape: [3, input], data: noise(3 * input, 5) };
    const found = [];
    for (const device of ["cpu", "cuda"] as const) {
      const session = await createModelSession(modelBytes(graph, { device }));
      found.push(Array.from((await session.run({ x })).floats("y")));
      await session.close();
    }
    expect(found[1]).toEqual(found[0]);
  },
);

test.each(kinds)("%s: decoders on WebGPU say what the processor's does", async (kind) => {
  const sources = await weightSources(await quantizedFolder(config, kind));
  const processor = await createCachedDecoder(config, sources, options);
  const expected = await decoderTalk(processor, adapter.tensors, 1);
  await processor.close();
  const runtime = (await runtimeFunctions()) ?? expect.unreachable("ONNX Runtime's C API can't be called");
  const onCard = { ...options, target: { device: "webgpu" } } as const;
  for (const create of [
    () => createPlainDecoder(config, sources, onCard),
    () => createWebgpuDecoder(runtime, config, sources, onCard),
  ]) {
    const card = await create();
    const said = await decoderTalk(card, adapter.tensors, 1);
    said.forEach((numbers, at) => {
      expect(relativeError(numbers, expected[at]!), `run ${at}`).toBeLessThan(1e-5);
    });
    await card.close();
  }
});

test.each(kinds)(
  "%s: an adapter that is trained on WebGPU ends up where the processor's does",
  async (kind) => {
    const { weights, base } = await readFrozenWeights(await quantizedFolder(config, kind));
    const model: TrainedModel = defined({
      config,
      lora: { rank: 4, alpha: 8, targets: ["q_proj", "down_proj"] },
      base,
    });
    const sequences = [30, 9, 21].map((length, row) => ({
      tokens: Array.from({ length }, (_, at) => (at * 13 + row * 29 + 7 * at * at) % config.vocab_size),
      mask: Array.from({ length }, (_, at) => (at === 0 ? 0 : 1)),
    }));
    const samples = sequences.map((sequence) => ({
      sequences: [sequence],
      columns: { weights: new Float32Array(sequence.tokens.length - 1).fill(0.02) },
    }));
    const request = { objective: supervisedObjective, samples, scalars: {}, learningRate: 0.01 };
    const ends = [];
    for (const device of ["cpu", "webgpu"] as const) {
      const state = freshTrainerState(model, new Map(weights), 1);
      const engine = createTrainingEngine({
        ...model,
        state,
        device,
        gradientClip: 1,
        weightDecay: 0,
        threads: 2,
      });
      const losses = [];
      for (let update = 0; update < 3; update++) losses.push((await engine.update(request)).loss);
      const scores = await engine.score(sequences, "policy");
      const reference = await engine.score(sequences, "reference");
      ends.push({
        losses,
        scores: [...scores, ...reference].map(({ logProbabilities }) => logProbabilities),
      });
      await engine.close();
    }
    const [processor, card] = ends;
    expect(processor!.losses[2]).toBeLessThan(processor!.losses[0]!);
    expect(relativeError(Float32Array.from(card!.losses), Float32Array.from(processor!.losses))).toBeLessThan(
      1e-5,
    );
    processor!.scores.forEach((expected, at) => {
      expect(relativeError(card!.scores[at]!, expected)).toBeLessThan(1e-4);
    });
  },
);
