import { setImmediate } from "node:timers/promises";
import { contextLength, type ModelConfig } from "../config/model-config.ts";
import { onProcessor } from "./key-value-memory.ts";
import type { KeyValues } from "./key-values.ts";

/** The factor of each channel of rounded keys and values, one array per layer: [key-value heads, head size]. */
export interface KeyValueScales {
  keys: Float32Array[];
  values: Float32Array[];
}

/** The largest rounded number. */
const largest = 127;
/**
 * How much larger than any measured number later ones may be. A larger margin would round all numbers more coarsely.
 */
const margin = 1.6;
/** The initial scale, for numbers up to 16. */
const firstScale = 16 / largest;
/** Scales of channels that are always 0. */
const leastScale = 1e-9;
/**
 * The most times that tokens are read. A layer's numbers are accurate once those of the previous layers are nearly so.
 */
const mostRounds = 8;
/** The most tokens to read. */
const mostTokens = 512;

/** Returns the initial scales, before any measurement. */
export function firstScales(config: ModelConfig): KeyValueScales {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  const scales = () => Array.from({ length: layers }, () => new Float32Array(heads * size).fill(firstScale));
  return { keys: scales(), values: scales() };
}

/** Returns the first tokens, up to the most to measure with. */
export function measuredTokens(config: ModelConfig, tokens: readonly number[]): readonly number[] {
  return tokens.slice(0, Math.min(mostTokens, contextLength(config)));
}

/**
 * Adjusts scales in place to a model's numbers. `read` reads tokens with the current scales, and returns one row of
 * rounded keys and values, [heads, capacity, size] per layer. Its first `count` positions belong to the tokens. Clipped
 * channels need a larger scale, and coarsely rounded ones a smaller scale. Repeats until there are none of either.
 * Other work gets turns between readings.
 */
export async function measureScales(
  { head_dim: size }: ModelConfig,
  scales: KeyValueScales,
  count: number,
  read: () => Promise<KeyValues>,
): Promise<void> {
  const all = [...scales.keys, ...scales.values];
  for (let round = 0; round < mostRounds; round++) {
    const { keys, values } = await read();
    const rounded = [...keys, ...values];
    const isPrecise = all.map((one, layer) =>
      refine(one, largestOf(onProcessor(rounded[layer]!), one.length, size, count)),
    );
    if (isPrecise.every((precise) => precise)) return;
    await setImmediate();
  }
}

/** Adjusts scales by the largest rounded number of each channel. Returns whether all were nearly right already. */
function refine(scales: Float32Array, most: Float32Array): boolean {
  let isPrecise = true;
  most.forEach((found, channel) => {
    const scale = scales[channel]!;
    const wanted = found >= largest ? 4 * scale : (margin * scale * (found + 0.5)) / largest;
    scales[channel] = Math.max(leastScale, wanted);
    if (found >= largest || (found < largest / 2 && scale > leastScale)) isPrecise = false;
  });
  return isPrecise;
}

/**
 * Returns the largest magnitude of each channel over the first `count` positions: `channels` in total, `size` per head.
 */
function largestOf(numbers: ArrayLike<number>, channels: number, size: number, count: number): Float32Array {
  const capacity = numbers.length / channels;
  const most = new Float32Array(channels);
  for (let channel = 0; channel < channels; channel++) {
    const start = Math.floor(channel / size) * capacity * size + (channel % size);
    for (let at = 0; at < count; at++) {
      most[channel] = Math.max(most[channel]!, Math.abs(numbers[start + at * size]!));
    }
  }
  return most;
}
