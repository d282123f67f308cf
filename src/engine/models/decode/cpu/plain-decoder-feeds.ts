import { defined } from "../../../../base/records/defined.ts";
import type { Tensor } from "../../../onnx/model-session.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import type { TokenPosition } from "../../config/token-positions.ts";
import { rotationsAt } from "../../graph/multimodal-rotary.ts";
import type { Block } from "../block-runner.ts";
import type { Past } from "../cached-decoder.ts";

/** Returns the inputs of `plainDecoderGraph` for a block, except keys and values. `inputs` lists its masks. */
export function plainDecoderFeeds(
  config: ModelConfig,
  { tokens, length, past, positions: byAxis }: Block,
  inputs: ReadonlySet<string>,
): Record<string, Tensor> {
  const { num_key_value_heads: heads, sliding_window: window } = config;
  const rows = tokens.length;
  const ids = new BigInt64Array(rows * length);
  const positions = new BigInt64Array(rows * length);
  const last = new BigInt64Array(rows);
  const places = new BigInt64Array(rows * heads * length * 3);
  tokens.forEach((row, index) => {
    const seen = past.lengths[index]!;
    for (let at = 0; at < length; at++) {
      // Padding goes after the row's tokens with the rotation of position 0, because the tables may end.
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
  const rotations = byAxis && rotationsAt(config, padded(byAxis, length));
  if (rotations) positions.set(BigInt64Array.from(positions, (_, index) => BigInt(index)));
  return {
    ...rotations,
    tokens: { shape: [rows, length], data: ids },
    positions: { shape: [rows, length], data: positions },
    last: { shape: [rows], data: last },
    places: { shape: [rows, heads, length, 3], data: places },
    ...masks,
  };
}

/** Returns the positions of all rows one after the other, each padded to `length`. */
function padded(byRow: NonNullable<Block["positions"]>, length: number): TokenPosition[] {
  const none: TokenPosition = [0, 0, 0];
  return byRow.flatMap((row) => Array.from({ length }, (_, at) => row[at] ?? none));
}

/**
 * Returns [rows, 1, length, capacity], to be added to scores: zero where a new token sees a position of its row (itself
 * and the `window` − 1 positions before it), −∞ elsewhere.
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
