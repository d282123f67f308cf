import { beforeAll, expect, test } from "vitest";
import { useSwiftShader } from "../../../src/devices/swiftshader.ts";
import type { CachedDecoder } from "../../../src/models/cached-decoder.ts";
import { createCachedDecoder } from "../../../src/models/create-cached-decoder.ts";
import { onProcessor } from "../../../src/models/key-value-memory.ts";
import { randomModelWeights } from "../../../src/models/model-weights.ts";
import { createDecoderCache } from "../../../src/sampling/key-value-cache.ts";
import { smallModel } from "../../support/small-model.ts";
import { relativeError } from "../torch-fixtures.ts";

beforeAll(useSwiftShader);

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
