import { expect, test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import type { CachedDecoder, Past } from "../../../../src/engine/models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../../../../src/engine/models/decode/create-cached-decoder.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";

const config = modelConfig({
  model_type: "llama",
  vocab_size: 1000,
  hidden_size: 512,
  intermediate_size: 2048,
  num_hidden_layers: 3,
  num_attention_heads: 8,
  num_key_value_heads: 2,
  max_position_embeddings: 512,
});
const length = 256;
const tokens = [Array.from({ length }, (_, at) => (at * 37) % 1000)];

function pastOf({ keyValues }: CachedDecoder): Past {
  const arrays = () => Array.from({ length: 3 }, () => keyValues.allocate(2 * length * 64));
  return { keys: arrays(), values: arrays(), capacity: length, lengths: [0] };
}

test("long passes leave the thread to others, give what the first gave, and are waited for", async () => {
  const decoder = await createCachedDecoder(
    config,
    { tensors: randomModelWeights(config, 1) },
    { threads: 1 },
  );
  const read = async () => {
    let turns = 0;
    const others = setInterval(() => turns++, 1);
    try {
      const { logits } = await decoder.run({ tokens, past: pastOf(decoder), wanted: ["logits"] });
      return { logits: logits.slice(0, 1000), turns };
    } finally {
      clearInterval(others);
    }
  };
  const first = await read();
  const second = await read();
  expect(second.logits).toEqual(first.logits);
  expect(first.turns).toBe(0); // how long it would take was not known
  expect(second.turns).toBeGreaterThan(2);
  const last = read();
  const closed = decoder.close();
  await expect(read()).rejects.toThrow("the session is closed");
  expect((await last).logits).toEqual(first.logits);
  await closed;
});
