import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import type { ModelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { DecoderOptions } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { createCudaDecoder } from "../../../../src/engine/models/decode/cuda/cuda-decoder.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { type WeightSources, weightSources } from "../../../../src/engine/models/weights/weight-sources.ts";
import { type CardAdapter, cardAdapter, cardModels } from "../../../support/card-model.ts";
import { decoderTalk } from "../../../support/decoder-talk.ts";
import { processorAsCard } from "../../../support/processor-as-card.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { relativeError } from "../../torch-fixtures.ts";

async function expectAlike(
  config: ModelConfig,
  adapter?: CardAdapter,
  sources: WeightSources = { tensors: randomModelWeights(config, 3) },
) {
  const card = await processorAsCard();
  const options: DecoderOptions = defined({ threads: 1, adapter: adapter?.shape });
  const exact = await createCachedDecoder(config, sources, options);
  const halves = { ...options, precision: "float16" } as const;
  const rounded = await createCudaDecoder(card.runtime, config, sources, halves, card.memory);
  const expected = await decoderTalk(exact, adapter?.tensors);
  const said = await decoderTalk(rounded, adapter?.tensors);
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

test.each(cardModels)(
  "%s: the card's decoder says what the processor's does, but for rounding",
  (_, config) => expectAlike(config),
);

test("so it does with an adapter", () => {
  const [[, config]] = cardModels;
  return expectAlike(config, cardAdapter(config));
});

test.each(["int8", "int4"] as const)("so it does over a base in %s", async (kind) => {
  const [[, config]] = cardModels;
  const sources = await weightSources(await quantizedFolder(config, kind));
  await expectAlike(config, cardAdapter(config), sources);
});
