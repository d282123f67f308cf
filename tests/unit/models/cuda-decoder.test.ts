import { expect, test } from "vitest";
import { adapterShapes } from "../../../src/learning/lora.ts";
import type { CachedDecoder } from "../../../src/models/cached-decoder.ts";
import type { AdapterShape } from "../../../src/models/cached-decoder-graph.ts";
import { createCachedDecoder } from "../../../src/models/create-cached-decoder.ts";
import { createCudaDecoder } from "../../../src/models/cuda-decoder.ts";
import { type ModelConfig, modelConfig } from "../../../src/models/model-config.ts";
import { randomModelWeights } from "../../../src/models/model-weights.ts";
import type { Tensor } from "../../../src/models/safetensors.ts";
import { createDecoderCache } from "../../../src/sampling/key-value-cache.ts";
import { cardShape } from "../../support/card-model.ts";
import { processorAsCard } from "../../support/processor-as-card.ts";
import { noise } from "../onnx/finite-differences.ts";
import { relativeError } from "../torch-fixtures.ts";

const families: [name: string, config: ModelConfig][] = [
  ["llama", modelConfig(cardShape)],
  ["qwen2", modelConfig({ ...cardShape, model_type: "qwen2" })],
  ["qwen3", modelConfig({ ...cardShape, model_type: "qwen3" })],
  [
    "gemma2",
    modelConfig({
      ...cardShape,
      model_type: "gemma2",
      hidden_act: "gelu_pytorch_tanh",
      attn_logit_softcapping: 50,
      final_logit_softcapping: 30,
      query_pre_attn_scalar: 32,
      sliding_window: 4,
      layer_types: ["sliding_attention", "full_attention"],
    }),
  ],
];

/** What a decoder says while rows are read, continued, swapped, kept, and read on from what was kept. */
async function talk(decoder: CachedDecoder, adapter?: ReadonlyMap<string, Tensor>) {
  const cache = createDecoderCache(decoder);
  const run = async (
    tokens: number[][],
    lengths: number[],
    wanted: "logits" | "weights" | "choice" = "logits",
  ) => {
    const past = { ...cache.view(0, tokens.length), capacity: cache.capacity(), lengths };
    const inverseTemperatures = Float32Array.from(tokens, (_, row) => 1 / (1 + row));
    const given = await decoder.run({
      tokens,
      past,
      wanted: [wanted],
      inverseTemperatures,
      ...(adapter && { adapter }),
    });
    const numbers =
      wanted === "choice" ? tokens.map((_, row) => given.choice(row).probability) : given[wanted];
    return Float32Array.from(numbers);
  };
  cache.arrange([-1, -1], [64, 64]);
  const said = [
    await run(
      [
        [3, 1, 4, 1, 5, 9],
        [2, 6, 5, 3],
      ],
      [0, 0],
    ),
  ];
  said.push(await run([[7], [8]], [6, 4]));
  cache.arrange([1, 0], [64, 128]);
  said.push(await run([[7], [8]], [5, 7]));
  const block = cache.cut(1, 0, 8);
  cache.arrange([-1, -1, -1], [64, 64, 64]);
  for (const row of [0, 1, 2]) cache.write(row, 0, block, { row: 0, length: 8, count: 8 });
  said.push(
    await run(
      [
        [7, 8],
        [7, 9],
        [1, 8],
      ],
      [8, 8, 8],
      "weights",
    ),
  );
  said.push(await run([[2], [3], [4]], [10, 10, 10], "choice"));
  // As many alike as are recorded, and some after them.
  for (let step = 11; step < 24; step++) said.push(await run([[2], [3], [4]], [step, step, step]));
  return said;
}

async function expectAlike(
  config: ModelConfig,
  adapter?: { shape: AdapterShape; tensors: Map<string, Tensor> },
) {
  const card = await processorAsCard();
  const tensors = randomModelWeights(config, 3);
  const options = { threads: 1, ...(adapter && { adapter: adapter.shape }) };
  const exact = await createCachedDecoder(config, { tensors }, options);
  const halves = { ...options, precision: "float16" } as const;
  const rounded = await createCudaDecoder(card.runtime, config, { tensors }, halves, card.memory);
  const expected = await talk(exact, adapter?.tensors);
  const said = await talk(rounded, adapter?.tensors);
  said.forEach((numbers, at) => {
    const error = relativeError(numbers, expected[at]!);
    expect(error).toBeLessThan(4e-3);
    expect(error).toBeGreaterThan(0);
  });
  await exact.close();
  expect(card.held()).toBeGreaterThan(0);
  await rounded.close();
  expect(card.held()).toBe(0);
}

test.each(families)("%s: the card's decoder says what the processor's does, but for rounding", (_, config) =>
  expectAlike(config),
);

test("so it does with an adapter", async () => {
  const [[, config]] = families as [[string, ModelConfig]];
  const shapes = adapterShapes(config, { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "down_proj"] });
  const tensors = new Map(
    [...shapes].map(([name, shape], at): [string, Tensor] => [
      name,
      {
        shape: [...shape],
        data: Float32Array.from(noise(shape[0]! * shape[1]!, at), (value) => 0.2 * value),
      },
    ]),
  );
  await expectAlike(config, { shape: { scale: 2, shapes: new Map(shapes) }, tensors });
});
