/** Restricts the draw to the likeliest tokens. Each option is off by default. */
export interface LikeliestOptions {
  /** Keeps this number of tokens. */
  topK?: number;
  /** Keeps the smallest set of the tokens left by top-k whose probability reaches this (arXiv 1904.09751). */
  topP?: number;
  /** Keeps tokens at least this fraction as likely as the likeliest (arXiv 2407.01082). */
  minP?: number;
}

/** Whether the options keep all tokens. */
export function keepsAll({ topK, topP = 1, minP = 0 }: LikeliestOptions): boolean {
  return topK === undefined && topP >= 1 && minP <= 0;
}

/**
 * Returns the tokens that top-k, then top-p, then min-p keep, in no particular order. Of equal weights, lower ids come
 * first. Weights are probabilities up to a factor. Sorting a whole vocabulary takes tens of milliseconds. So weights
 * are counted by size, and only those near the limit are sorted.
 */
export function keepLikeliest(
  weights: Float32Array,
  { topK = weights.length, topP = 1, minP = 0 }: LikeliestOptions,
): number[] {
  const sizes = countSizes(weights);
  const likeliest = (within: Limits) => likeliestWithin(weights, sizes, within);
  const limits = { count: topK, mass: Number.POSITIVE_INFINITY, least: minP * sizes.largest };
  if (topP >= 1) return likeliest(limits);
  if (topK >= weights.length) return likeliest({ ...limits, mass: topP * sizes.total });
  const first = likeliest({ ...limits, least: 0 });
  return likeliest({ ...limits, mass: topP * first.reduce((sum, token) => sum + weights[token]!, 0) });
}

/**
 * The number of weights of each size, and their sum. Sizes grow with weights. Weights of one size differ by less than
 * an eighth.
 */
interface Sizes {
  counts: Uint32Array;
  masses: Float64Array;
  largest: number;
  total: number;
}

/** Returns the size of a weight from its bits: sign, exponent and three bits of the fraction. */
const sizeOf = (bits: number) => bits >>> 20;

/** The number of sizes of finite weights. */
const sizeCount = 0x7f8;

const bitsOf = ({ buffer, byteOffset, length }: Float32Array) => new Uint32Array(buffer, byteOffset, length);

function countSizes(weights: Float32Array): Sizes {
  const bits = bitsOf(weights);
  const counts = new Uint32Array(sizeCount);
  const masses = new Float64Array(sizeCount);
  let [largest, total] = [0, 0];
  for (let token = 0; token < weights.length; token++) {
    const weight = weights[token]!;
    const size = sizeOf(bits[token]!);
    counts[size]!++;
    masses[size]! += weight;
    total += weight;
    if (weight > largest) largest = weight;
  }
  return { counts, masses, largest, total };
}

/**
 * Where the likeliest tokens end: after a count, when their weights reach a mass, or before weights below the least.
 */
interface Limits {
  count: number;
  mass: number;
  least: number;
}

/** Returns at least one token, and none of weight 0. */
function likeliestWithin(weights: Float32Array, sizes: Sizes, { count, mass, least }: Limits): number[] {
  const { counts, masses, largest } = sizes;
  const bits = bitsOf(weights);
  const leastSize = sizeOf(bitsOf(Float32Array.of(least))[0]!);
  let size = sizeOf(bitsOf(Float32Array.of(largest))[0]!);
  let [have, reached] = [0, 0];
  while (size > leastSize && have + counts[size]! < count && reached + masses[size]! < mass) {
    have += counts[size]!;
    reached += masses[size]!;
    size--;
  }
  const kept: number[] = [];
  const last: number[] = [];
  for (let token = 0; token < weights.length; token++) {
    const own = sizeOf(bits[token]!);
    if (own > size) kept.push(token);
    else if (own === size && weights[token]! >= least && weights[token]! > 0) last.push(token);
  }
  // Sorts a typed array without a comparison function, which would take most of the time.
  const values = Float32Array.from(last, (token) => weights[token]!).sort();
  let at = values.length;
  const isEnough = () => have > 0 && (have >= count || reached >= mass);
  while (at > 0 && !isEnough()) {
    reached += values[--at]!;
    have++;
  }
  const smallest = values[at] ?? Number.POSITIVE_INFINITY;
  let equal = values.subarray(at).lastIndexOf(smallest) + 1;
  for (const token of last) {
    const weight = weights[token]!;
    if (weight > smallest || (weight === smallest && equal-- > 0)) kept.push(token);
  }
  return kept;
}
