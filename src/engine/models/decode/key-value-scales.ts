import { setImmediate } from "node:timers/promises";
import { contextLength, type ModelConfig } from "../config/model-config.ts";
import { onProcessor } from "./key-value-memory.ts";
import type { KeyValues } from "./key-values.ts";

/** What each channel of rounded keys and values is multiplied with, one array a layer: [key-value heads, head size]. */
export interface KeyValueScales {
  keys: Float32Array[];
  values: Float32Array[];
}

/** The largest rounded number. */
const largest = 127;
/** How much larger numbers may become than any that was measured. More of it, and all are rounded more coarsely. */
const margin = 1.6;
/** Where scales begin: numbers up to 16. */
const firstScale = 16 / largest;
/** Scales of channels that are always 0. */
const leastScale = 1e-9;
/** Times that tokens are read, at most: a layer's numbers are right when those of the layers before it are about right. */
const mostRounds = 8;
/** Tokens that are read, at most. */
const mostTokens = 512;

/** Scales before anything is measured. */
export function firstScales(config: ModelConfig): KeyValueScales {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  const scales = () => Array.from({ length: layers }, () => new Float32Array(heads * size).fill(firstScale));
  return { keys: scales(), values: scales() };
}

/** The first of some tokens, as many as scales are measured with. */
export function measuredTokens(config: ModelConfig, tokens: readonly number[]): readonly number[] {
  return tokens.slice(0, Math.min(mostTokens, contextLength(config)));
}

/**
 * Sets scales to what a model's numbers want, in place. `read` reads tokens with the scales as they are, and gives one row of
 * rounded keys and values, [heads, capacity, size] a layer, of which `count` positions are the tokens'. What is cut off
 * wants a larger scale, what is rounded coarsely a smaller one, until neither is found. Between two readings others have their turn.
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

/** Brings scales closer by the largest rounded number of each channel; whether all had been about right. */
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

/** The largest magnitude of each channel of the first `count` positions: `channels` in all, `size` of them a head. */
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
