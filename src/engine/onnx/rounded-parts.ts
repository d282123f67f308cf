import { product } from "./dimensions.ts";
import { absolute, add, div, mul, nearestWhole, sub } from "./elementwise.ts";
import type { FloatValue } from "./graph.ts";
import { reduceMax } from "./reductions.ts";
import { concat, reshape } from "./shaping.ts";

/** 8 bits each: together as many as a float has. */
export const partCount = 3;

/** By what was taken apart, its parts for blocks of each length: linear maps of the same rows share them. */
const known = new WeakMap<FloatValue, Map<number, FloatValue>>();

/**
 * Rows x [..., in] as the sum of three [3, rows, in], of which the runtime's rounding of each block to a scale times integers of 8 bits changes the first two not at
 * all, and the last by less than 2^-23 of the block's largest number. Rows are few bits in all of three products then, and exact in their sum. No gradient rule.
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

/** Blocks along the last axis as integers from −127 to 127, times a 127th of the largest of each. */
function rounded(blocks: FloatValue): FloatValue {
  const step = add(mul(reduceMax(absolute(blocks)), 1 / 127), smallest);
  return mul(nearestWhole(div(blocks, step)), step);
}

/** What blocks of zeros are divided by; added to the step of others it is rounded away. */
const smallest = 2 ** -120;
