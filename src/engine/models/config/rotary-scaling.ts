/** How rotary frequencies are stretched for contexts longer than those of pretraining. */
export type RotaryScaling =
  | { rope_type: "default" }
  | { rope_type: "linear"; factor: number }
  | {
      rope_type: "llama3";
      factor: number;
      low_freq_factor: number;
      high_freq_factor: number;
      original_max_position_embeddings: number;
    }
  | {
      rope_type: "yarn";
      factor: number;
      original_max_position_embeddings: number;
      beta_fast: number;
      beta_slow: number;
      /** Factor of cosines and sines. Default: 0.1 · ln(factor) + 1. */
      attention_factor: number;
      truncate: boolean;
    }
  | {
      rope_type: "longrope";
      factor: number;
      original_max_position_embeddings: number;
      /** Factor of cosines and sines. Default: √(1 + ln(factor) / ln(original context)). */
      attention_factor: number;
      /** The divisor of each frequency in sequences within the original context. */
      short_factor: readonly number[];
      /**
       * The divisors in longer sequences. They are not used here, because the factors would change with a sequence's
       * length.
       */
      long_factor: readonly number[];
    };

/**
 * The angles by which one position rotates each pair of a head, [head size / 2], and a factor of all cosines and sines.
 */
export interface RotaryFrequencies {
  frequencies: Float32Array;
  scale: number;
}

const { fround } = Math;

/**
 * Returns RoPE's frequencies (arXiv 2104.09864) under a scaling, for heads with this many rotated numbers. Computed in
 * float32 at each step like in `transformers`.
 */
export function rotaryFrequencies(
  headSize: number,
  theta: number,
  scaling: RotaryScaling,
): RotaryFrequencies {
  const half = headSize / 2;
  const plain = Float32Array.from({ length: half }, (_, at) => 1 / fround(theta ** fround(at / half)));
  switch (scaling.rope_type) {
    case "default":
      return { frequencies: plain, scale: 1 };
    case "linear":
      return { frequencies: plain.map((frequency) => frequency / scaling.factor), scale: 1 };
    case "llama3":
      return { frequencies: plain.map((frequency) => llama3Frequency(frequency, scaling)), scale: 1 };
    case "yarn":
      return {
        frequencies: plain.map((frequency, at) => {
          const stretched = frequency / scaling.factor;
          const kept = 1 - yarnRamp(at, headSize, theta, scaling);
          return fround(stretched * fround(1 - kept)) + fround(frequency * kept);
        }),
        scale: scaling.attention_factor,
      };
    case "longrope":
      return {
        frequencies: plain.map((_, at) => {
          const stretch = fround(scaling.short_factor[at]!);
          return 1 / fround(stretch * fround(theta ** fround(at / half)));
        }),
        scale: scaling.attention_factor,
      };
  }
}

/** Divides long wavelengths by the factor, keeps short ones, and blends those between (Llama 3.1). */
function llama3Frequency(
  frequency: number,
  scaling: Extract<RotaryScaling, { rope_type: "llama3" }>,
): number {
  const { factor, low_freq_factor: low, high_freq_factor: high } = scaling;
  const context = scaling.original_max_position_embeddings;
  const wavelength = fround((2 * Math.PI) / frequency);
  if (wavelength > context / low) return frequency / factor;
  if (wavelength < context / high) return frequency;
  const blend = fround(fround(context / wavelength - low) / (high - low));
  return fround(fround((1 - blend) * frequency) / factor) + fround(blend * frequency);
}

/** Returns 0 where YaRN (arXiv 2309.00071) keeps a frequency, and 1 where it divides it by the factor. */
function yarnRamp(
  at: number,
  headSize: number,
  theta: number,
  scaling: Extract<RotaryScaling, { rope_type: "yarn" }>,
): number {
  const pairOf = (rotations: number) =>
    (headSize * Math.log(scaling.original_max_position_embeddings / (rotations * 2 * Math.PI))) /
    (2 * Math.log(theta));
  const bound = (pair: number, round: (pair: number) => number) => (scaling.truncate ? round(pair) : pair);
  const low = Math.max(bound(pairOf(scaling.beta_fast), Math.floor), 0);
  const high = Math.min(bound(pairOf(scaling.beta_slow), Math.ceil), headSize - 1);
  const width = high === low ? 0.001 : high - low;
  return fround(Math.min(1, Math.max(0, fround((at - low) / width))));
}
