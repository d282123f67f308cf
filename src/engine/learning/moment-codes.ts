/** The number of values that share a scale. */
export const momentBlock = 256;

/** The upper 16 bits of 2^-23, where the tables begin. Smaller magnitudes count as zero. */
const firstStep = 13_312;
/** The number of table entries, up to the upper bits of 1. */
const steps = (127 << 7) - firstStep + 1;

/** Tables that convert numbers to 8-bit codes and back. */
export interface MomentCodes {
  /** The value of each code, relative to its block's scale. */
  values: Float32Array;
  /** The midpoint between each level of magnitudes and the next. */
  middles: Float32Array;
  /** By a magnitude's upper 16 bits, from those of 2^-23: the lowest level that may be nearest to it. */
  steps: Uint8Array;
}

/**
 * Returns the dynamic codes of arXiv 2110.02861, as in bitsandbytes: seven decades of magnitudes, each with twice the
 * levels of the one below. Signed codes are for first moments. Unsigned ones, twice as fine, are for second moments.
 */
export function momentCodes(signed: boolean): MomentCodes {
  const levels = Float32Array.from([0, ...decades(signed ? 1 : 2), 1]);
  const middles = new Float32Array(256).fill(Number.POSITIVE_INFINITY);
  for (let level = 0; level + 1 < levels.length; level++)
    middles[level] = (levels[level]! + levels[level + 1]!) / 2;
  const magnitudes = new Float32Array(
    Uint32Array.from({ length: steps }, (_, step) => (step + firstStep) << 16).buffer,
  );
  let level = 0;
  return {
    values: signed ? withNegatives(levels) : levels,
    middles,
    steps: Uint8Array.from(magnitudes, (magnitude) => {
      while (magnitude > middles[level]!) level++;
      return level;
    }),
  };
}

/** Returns the midpoints of equal parts of each decade. `fewest` is the number of parts in the lowest. */
function decades(fewest: number): number[] {
  return Array.from({ length: 7 }, (_, decade) => {
    const parts = fewest * 2 ** decade;
    return Array.from(
      { length: parts },
      (_code, at) => 10 ** (decade - 6) * (0.1 + (0.9 * (at + 0.5)) / parts),
    );
  }).flat();
}

/** Adds negative levels. Zero has code 127, and the last level has no negative. */
function withNegatives(levels: Float32Array): Float32Array {
  const negatives = levels.subarray(1, -1).map((level) => -level);
  return Float32Array.from([...negatives.reverse(), ...levels]);
}
