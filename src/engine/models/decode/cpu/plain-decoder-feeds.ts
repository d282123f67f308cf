import { defined } from "../../../../base/records/defined.ts";
import type { Tensor } from "../../../onnx/session.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import type { Block } from "../block-runner.ts";
import type { Past } from "../cached-decoder.ts";

/** What `plainDecoderGraph` reads of a block beside keys and values; `inputs` says which masks it has. */
export function plainDecoderFeeds(
  { num_key_value_heads: heads, sliding_window: window }: ModelConfig,
  { tokens, length, past }: Block,
  inputs: ReadonlySet<string>,
): Record<string, Tensor> {
  const rows = tokens.length;
  const ids = new BigInt64Array(rows * length);
  const positions = new BigInt64Array(rows * length);
  const last = new BigInt64Array(rows);
  const places = new BigInt64Array(rows * heads * length * 3);
  tokens.forEach((row, index) => {
    const seen = past.lengths[index]!;
    for (let at = 0; at < length; at++) {
      // What a row is padded with is put behind it, and rotated as if it were first: the tables may end.
      ids[index * length + at] = BigInt(row[at] ?? 0);
      positions[index * length + at] = at < row.length ? BigInt(seen + at) : 0n;
      for (let head = 0; head < heads; head++) {
        const place = [index, head, seen + at].map(BigInt);
        places.set(place, 3 * ((index * heads + head) * length + at));
      }
    }
    last[index] = BigInt(index * length + row.length - 1);
  });
  const masks = defined<Record<string, Tensor>>({
    mask: inputs.has("mask") ? maskOf(past, length, Number.POSITIVE_INFINITY) : undefined,
    windowMask: inputs.has("windowMask") && window !== null ? maskOf(past, length, window) : undefined,
  });
  return {
    tokens: { shape: [rows, length], data: ids },
    positions: { shape: [rows, length], data: positions },
    last: { shape: [rows], data: last },
    places: { shape: [rows, heads, length, 3], data: places },
    ...masks,
  };
}

/**
 * [rows, 1, length, capacity], to be added to scores: zero where a new token sees a position of its row, its own or one less than
 * `window` before it; −∞ elsewhere.
 */
function maskOf({ capacity, lengths }: Past, length: number, window: number): Tensor {
  const data = new Float32Array(lengths.length * length * capacity).fill(Number.NEGATIVE_INFINITY);
  lengths.forEach((seen, row) => {
    for (let at = 0; at < length; at++) {
      const start = (row * length + at) * capacity;
      const position = seen + at;
      data.fill(0, start + Math.max(0, position - window + 1), start + position + 1);
    }
  });
  return { shape: [lengths.length, 1, length, capacity], data };
}
