import { type RotaryScaling, rotaryFrequencies } from "../rotary-scaling.ts";

/** The parameters that every Llama 3.1, 3.2 and 3.3 has; only the factor differs. */
const llama3 = { low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 };

/** What llama.cpp divides each frequency by for a scaling of Llama 3: the tensor rope_freqs.weight. */
export function llama3Factors(
  headSize: number,
  theta: number,
  scaling: Extract<RotaryScaling, { rope_type: "llama3" }>,
): Float32Array {
  const plain = rotaryFrequencies(headSize, theta, { rope_type: "default" }).frequencies;
  const scaled = rotaryFrequencies(headSize, theta, scaling).frequencies;
  return plain.map((frequency, at) => frequency / scaled[at]!);
}

/** The scaling behind the factors in rope_freqs.weight; undefined if they are not those of a Llama 3. */
export function scalingFromFactors(
  headSize: number,
  theta: number,
  factors: Float32Array,
): RotaryScaling | undefined {
  const factor = factors.reduce((most, value) => Math.max(most, value), 0);
  const scaling = { rope_type: "llama3", factor, ...llama3 } as const;
  const expected = llama3Factors(headSize, theta, scaling);
  const isClose = (value: number, at: number) => Math.abs(value / factors[at]! - 1) < 1e-4;
  return expected.length === factors.length && expected.every(isClose) ? scaling : undefined;
}
