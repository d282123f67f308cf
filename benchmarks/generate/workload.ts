import { createUniformStream, type UniformStream } from "../../src/base/random/uniform-stream.ts";
import { configs, type ShapeName } from "../shapes.ts";
import type { GenerateRequest } from "./side.ts";

/** The longest prompt and the most new tokens of each size. */
const lengths: Readonly<Record<ShapeName, readonly number[]>> = {
  tiny: [64, 64],
  small: [128, 128],
  "smol-135m": [64, 128],
  "qwen-0.5b": [64, 128],
  "llama-1b": [64, 128],
  "qwen-1.5b": [64, 128],
};

/** How the lengths of prompts and continuations are spread. */
export const spreads = ["unequal prompts", "ragged", "equal"] as const;
export type Spread = (typeof spreads)[number];

/**
 * Random prompts for a batch. "equal": all of the longest length, all with the most new tokens; "unequal prompts":
 * between half and all of it; "ragged": continuations too, between a quarter and all. Each round has its own prompts, so
 * that no side finds them in its memory.
 */
export function generateRequest(
  shape: ShapeName,
  batch: number,
  spread: Spread,
  round: number,
  [prompt, fresh]: readonly number[] = lengths[shape],
): Omit<GenerateRequest, "sampled"> {
  const uniform = createUniformStream({ seed: 7, trajectory: `${shape}/${batch}`, turn: round });
  const rows = Array.from({ length: batch }, (_, row) => row);
  const between = (share: number, most: number, at: number) =>
    Math.round(most * (share + (1 - share) * uniform(at)));
  return {
    prompts: rows.map((row) => {
      const length = spread === "equal" ? prompt : between(0.5, prompt, row);
      return randomTokens(shape, uniform, 1000 * (row + 1), length);
    }),
    limits: rows.map((row) => (spread === "ragged" ? between(0.25, fresh, 500 + row) : fresh)),
  };
}

/** What a tool answers in a turn of a trajectory: 24 tokens. */
export function observation(shape: ShapeName, row: number, turn: number): number[] {
  const uniform = createUniformStream({ seed: 8, trajectory: `${shape}/${row}`, turn });
  return randomTokens(shape, uniform, 0, 24);
}

function randomTokens(shape: ShapeName, uniform: UniformStream, from: number, count: number): number[] {
  const vocabulary = configs[shape].vocab_size;
  return Array.from({ length: count }, (_, at) => Math.floor(vocabulary * uniform(from + at)));
}
