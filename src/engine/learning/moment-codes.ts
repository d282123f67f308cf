/** Numbers that share a scale. */
export const momentBlock = 256;

/** Half floats of the magnitudes that tables begin with: the upper bits of 2^-23, below which all is zero. */
const firstStep = 13_312;
/** Up to those of 1. */
const steps = (127 << 7) - firstStep + 1;

/** What turns numbers into codes of 8 bits and back. */
export interface MomentCodes {
  /** What each code stands for, times its block's scale. */
  values: Float32Array;
  /** Between each level of magnitudes and the next one, which is wider. */
  middles: Float32Array;
  /** By a magnitude's upper 16 bits, from those of 2^-23: the lowest level that it can be nearest to. */
  steps: Uint8Array;
}

/**
 * The dynamic codes of arXiv 2110.02861, as bitsandbytes has them: seven decades of magnitudes, each with twice the levels of
 * the one below. Signed ones are for first moments; unsigned ones, twice as fine, for second moments.
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

/** The middles of equal parts of each decade: so many of the lowest one. */
function decades(fewest: number): number[] {
  return Array.from({ length: 7 }, (_, decade) => {
    const parts = fewest * 2 ** decade;
    return Array.from({ length: parts }, (_, at) => 10 ** (decade - 6) * (0.1 + (0.9 * (at + 0.5)) / parts));
  }).flat();
}

/** Zero is code 127; the last level has no negative. */
function withNegatives(levels: Float32Array): Float32Array {
  const negatives = levels.subarray(1, -1).map((level) => -level);
  return Float32Array.from([...negatives.reverse(), ...levels]);
}
