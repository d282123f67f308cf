import { runError } from "../onnx/run-error.ts";
import type { Tensor as RuntimeTensor } from "../onnx/session.ts";
import type { Past } from "./cached-decoder.ts";
import type { KeyValueArray } from "./key-values.ts";
import type { ModelConfig } from "./model-config.ts";

/** What the decoding graph reads in one run; `inputs` says which masks it has. */
export function decoderFeeds(
  { num_key_value_heads: heads, head_dim: size, sliding_window: window }: ModelConfig,
  tokens: readonly (readonly number[])[],
  length: number,
  past: Past,
  inputs: ReadonlySet<string>,
): Record<string, RuntimeTensor> {
  const rows = tokens.length;
  const ids = new BigInt64Array(rows * length);
  const positions = new BigInt64Array(rows * length);
  const last = new BigInt64Array(rows);
  tokens.forEach((row, index) => {
    const seen = past.lengths[index]!;
    row.forEach((token, at) => {
      ids[index * length + at] = BigInt(token);
      positions[index * length + at] = BigInt(seen + at);
    });
    last[index] = BigInt(index * length + row.length - 1);
  });
  const feeds: Record<string, RuntimeTensor> = {
    tokens: { shape: [rows, length], data: ids },
    positions: { shape: [rows, length], data: positions },
    last: { shape: [rows], data: last },
  };
  if (inputs.has("mask")) feeds.mask = maskOf(past, length, Number.POSITIVE_INFINITY);
  if (inputs.has("windowMask") && window !== null) feeds.windowMask = maskOf(past, length, window);
  const shape = [rows, heads, past.capacity, size];
  past.keys.forEach((data, layer) => {
    feeds[`pastKeys${layer}`] = { shape, data: floats(data) };
    feeds[`pastValues${layer}`] = { shape, data: floats(past.values[layer]!) };
  });
  return feeds;
}

/**
 * [rows, 1, length, capacity + length], to be added to scores: zero where a new token sees what is remembered of its
 * row, earlier new tokens and itself, less than `window` before it; −∞ elsewhere.
 */
function maskOf({ capacity, lengths }: Past, length: number, window: number): RuntimeTensor {
  const total = capacity + length;
  const data = new Float32Array(lengths.length * length * total).fill(Number.NEGATIVE_INFINITY);
  lengths.forEach((seen, row) => {
    for (let at = 0; at < length; at++) {
      const start = (row * length + at) * total;
      data.fill(0, start + Math.max(0, seen + at - window + 1), start + seen);
      data.fill(0, start + capacity + Math.max(0, at - window + 1), start + capacity + at + 1);
    }
  });
  return { shape: [lengths.length, 1, length, total], data };
}

/** Keys and values that are fed are float32. */
function floats(array: KeyValueArray): Float32Array {
  if (array instanceof Float32Array) return array;
  throw runError("keys and values that are fed must be float32");
}
