import { availableParallelism } from "node:os";
import type { Device } from "../../src/engine/devices/device.ts";
import type { ModelConfig } from "../../src/engine/models/config/model-config.ts";
import { createCachedDecoder } from "../../src/engine/models/decode/create-cached-decoder.ts";
import type { WeightSources } from "../../src/engine/models/weights/weight-sources.ts";
import type { Precision, Target } from "../../src/engine/onnx/target.ts";
import { createDecoderCache } from "../../src/engine/sampling/key-value-cache.ts";

/** The largest difference of numbers, over the largest number. */
export function relativeDifference(actual: Float32Array, expected: Float32Array): number {
  let [gap, largest] = [0, 0];
  for (let at = 0; at < expected.length; at++) {
    gap = Math.max(gap, Math.abs(actual[at]! - expected[at]!));
    largest = Math.max(largest, Math.abs(expected[at]!));
  }
  return gap / largest;
}

/** The precisions that are compared on a device. */
export function precisionsOf(device: Device): readonly Precision[] {
  return device === "cuda" ? ["float32", "float16", "bfloat16"] : ["float32"];
}

/** By precision, how far the device's decoder is from the CPU's, in each of `decoded`'s runs. */
export async function compareDecoders(
  config: ModelConfig,
  sources: WeightSources,
  device: Device,
): Promise<Record<string, number[]>> {
  const expected = await decoded(config, sources, {});
  const differences: Record<string, number[]> = {};
  for (const precision of precisionsOf(device)) {
    const actual = await decoded(config, sources, { device, precision });
    differences[precision] = expected.map((numbers, run) => relativeDifference(actual[run]!, numbers));
  }
  return differences;
}

/** Logits of two prompts, of a token after each, and of two more tokens. */
async function decoded(config: ModelConfig, sources: WeightSources, target: Target): Promise<Float32Array[]> {
  const decoder = await createCachedDecoder(config, sources, { threads: availableParallelism(), target });
  const cache = createDecoderCache(decoder);
  cache.arrange([-1, -1], [64, 64]);
  const read = async (tokens: number[][], lengths: number[]) => {
    const past = { ...cache.view(0, 2), capacity: cache.capacity(), lengths };
    return (await decoder.run({ tokens, past, wanted: ["logits"] })).logits.slice();
  };
  const prompts = [40, 25].map((length, row) =>
    Array.from({ length }, (_, at) => (at * 37 + row * 101) % 500),
  );
  const logits = [
    await read(prompts, [0, 0]),
    await read([[7], [8]], [40, 25]),
    await read(
      [
        [9, 3],
        [5, 11],
      ],
      [41, 26],
    ),
  ];
  await decoder.close();
  return logits;
}
