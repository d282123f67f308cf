import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { DecoderOptions } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { weightSources } from "../../../../src/engine/models/weights/weight-sources.ts";
import { createDecoderCache } from "../../../../src/engine/sampling/key-value-cache.ts";
import { cardAdapter } from "../../../support/card-model.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { relativeError } from "../../torch-fixtures.ts";

const config = modelConfig({
  vocab_size: 70,
  hidden_size: 256,
  num_hidden_layers: 3,
  intermediate_size: 512,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 64,
  max_position_embeddings: 512,
  initializer_range: 0.1,
});

interface Ways {
  activations?: "float32" | "int8";
  hasAdapter?: boolean;
}

/** Logits of what is left after two blocks, which are read as whole ones or as others. */
async function logitsAfter(
  kind: "int8" | "int4",
  isWhole: boolean,
  { activations = "float32", hasAdapter }: Ways = {},
) {
  const sources = await weightSources(await quantizedFolder(config, kind));
  const adapter = hasAdapter ? cardAdapter(config) : undefined;
  const options: DecoderOptions = defined({ threads: 2, activations, adapter: adapter?.shape });
  const decoder = await createCachedDecoder(config, sources, options);
  const cache = createDecoderCache(decoder);
  cache.arrange([-1], [192]);
  const past = { ...cache.view(0, 1), capacity: cache.capacity(), lengths: [0] };
  const matrices = adapter && { adapter: adapter.tensors };
  const tokens = [Array.from({ length: 128 }, (_, at) => (at * 13 + 7 * at * at) % 70)];
  await decoder.run({ tokens, past, isWhole, ...matrices });
  const rest = { tokens: [[3, 1]], past: { ...past, lengths: [128] }, ...matrices };
  const logits = (await decoder.run(rest)).logits.slice();
  const { readsBlocksApart } = decoder;
  await decoder.close();
  return { logits, readsBlocksApart };
}

test.each([
  ["a model", false],
  ["one with an adapter", true],
])(
  "whole blocks of a prompt of %s are read by widened matrices, which say the same but for rounding",
  async (_, hasAdapter) => {
    const [whole, other] = [
      await logitsAfter("int8", true, { hasAdapter }),
      await logitsAfter("int8", false, { hasAdapter }),
    ];
    expect(whole.readsBlocksApart).toBe(true);
    const error = relativeError(whole.logits, other.logits);
    expect(error).toBeLessThan(1e-5);
    expect(error).toBeGreaterThan(0);
  },
);

test.each([
  ["int8", "int8"],
  ["int4", "float32"],
] as const)("a base in %s with activations in %s has one way to read", async (kind, activations) => {
  const [whole, other] = [
    await logitsAfter(kind, true, { activations }),
    await logitsAfter(kind, false, { activations }),
  ];
  expect(whole).toEqual({ logits: other.logits, readsBlocksApart: false });
});
