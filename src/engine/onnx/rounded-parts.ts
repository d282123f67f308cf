import { product } from "./dimensions.ts";
import { absolute, add, div, mul, nearestWhole, sub } from "./elementwise.ts";
import type { FloatValue } from "./graph.ts";
import { reduceMax } from "./reductions.ts";
import { concat, reshape } from "./shaping.ts";

/** With 8 bits each, together as many as a float has. */
export const partCount = 3;

/** The parts for blocks of each length, by input. Linear maps of the same rows share them. */
const known = new WeakMap<FloatValue, Map<number, FloatValue>>();

/**
 * Splits rows x [..., in] into three summands [3, rows, in]. The runtime rounds each block to a scale times 8-bit
 * integers. This does not change the first two, and changes the last by less than 2^-23 of the block's largest number.
 * So the three products have few bits, and their sum is exact. No gradient rule.
 */
export function roundedParts(x: FloatValue, block: number): FloatValue {
  const ofBlocks = known.get(x) ?? new Map<number, FloatValue>();
  known.set(x, ofBlocks);
  const parts = ofBlocks.get(block) ?? takenApart(x, block);
  ofBlocks.set(block, parts);
  return parts;
}

function takenApart(x: FloatValue, block: number): FloatValue {
  const width = Number(x.shape.at(-1));
  const rows = product(x.shape.slice(0, -1));
  const all = reshape(x, [rows, width / block, block]);
  const first = rounded(all);
  const rest = sub(all, first);
  const second = rounded(rest);
  const parts = concat([first, second, sub(rest, second)], 0, product([partCount, rows]));
  return reshape(parts, [partCount, rows, width]);
}

/** Rounds blocks along the last axis to integers from −127 to 127, times a 127th of each block's largest number. */
function rounded(blocks: FloatValue): FloatValue {
  const step = add(mul(reduceMax(absolute(blocks)), 1 / 127), smallest);
  return mul(nearestWhole(div(blocks, step)), step);
}

/** The divisor for blocks of zeros. Added to the step of other blocks, it vanishes by rounding. */
const smallest = 2 ** -120;
