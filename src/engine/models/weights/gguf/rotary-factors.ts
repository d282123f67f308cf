import { type ModelConfig, rotatedSize } from "../../config/model-config.ts";
import { parseRotaryScaling } from "../../config/parse-rotary-scaling.ts";
import { type RotaryScaling, rotaryFrequencies } from "../../config/rotary-scaling.ts";
import type { Tensor } from "../safetensors.ts";
import { decimal, type ModelHeader, unsupportedGguf } from "./config-metadata.ts";

/** The tensor with the scaling of rotary frequencies in Llama 3.1 and later. */
const llama3Name = "rope_freqs.weight";
/** The tensors of LongRoPE. */
const shortName = "rope_factors_short.weight";
const longName = "rope_factors_long.weight";

/** Tensors that are not weights. */
export const factorNames: readonly string[] = [llama3Name, shortName, longName];

/** The parameters of every Llama 3.1, 3.2 and 3.3. Only the factor differs. */
const llama3 = { low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 };

/** Returns llama.cpp's divisors of the frequencies for a Llama 3 scaling: the tensor rope_freqs.weight. */
function llama3Factors(
  headSize: number,
  theta: number,
  scaling: Extract<RotaryScaling, { rope_type: "llama3" }>,
): Float32Array {
  const plain = rotaryFrequencies(headSize, theta, { rope_type: "default" }).frequencies;
  const scaled = rotaryFrequencies(headSize, theta, scaling).frequencies;
  return plain.map((frequency, at) => frequency / scaled[at]!);
}

/** Returns the factors of a model's scaling that GGUF stores as tensors, by name. */
export function factorsOf(config: ModelConfig): Map<string, Tensor> {
  const { head_dim, rope_theta, rope_scaling: scaling } = config;
  const tensor = (data: Float32Array): Tensor => ({ shape: [data.length], data });
  if (scaling.rope_type === "llama3") {
    return new Map([[llama3Name, tensor(llama3Factors(head_dim, rope_theta, scaling))]]);
  }
  if (scaling.rope_type !== "longrope") return new Map();
  return new Map([
    [longName, tensor(Float32Array.from(scaling.long_factor))],
    [shortName, tensor(Float32Array.from(scaling.short_factor))],
  ]);
}

/**
 * Adds the scaling that corresponds to the factors in a file to a configuration. Throws GGUF_UNSUPPORTED for factors
 * other than those of Llama 3 or LongRoPE, and if those of LongRoPE are missing.
 */
export function withFactors(
  path: string,
  { metadata }: Pick<ModelHeader, "metadata">,
  config: ModelConfig,
  factors: ReadonlyMap<string, Tensor>,
): ModelConfig {
  const [few, short, long] = factorNames.map((name) => factors.get(name)?.data);
  const scaling = (name: string) =>
    metadata.get(`${metadata.get("general.architecture")}.rope.scaling.${name}`);
  if (few) return { ...config, rope_scaling: llama3Scaling(path, config, few) };
  if (!short || !long) {
    if (scaling("type") !== "longrope") return config;
    throw unsupportedGguf(
      path,
      `its RoPE is scaled by LongRoPE, but ${short ? longName : shortName} is missing`,
    );
  }
  const json = {
    rope_type: "longrope",
    original_max_position_embeddings: scaling("original_context_length"),
    short_factor: Array.from(short, decimal),
    long_factor: Array.from(long, decimal),
  };
  const heads = { context: config.max_position_embeddings, size: rotatedSize(config), path };
  const usual = parseRotaryScaling(json, heads);
  const attention = scaling("attn_factor");
  if (typeof attention !== "number" || isSame(attention, usual)) return { ...config, rope_scaling: usual };
  return {
    ...config,
    rope_scaling: parseRotaryScaling({ ...json, attention_factor: decimal(attention) }, heads),
  };
}

function isSame(attention: number, scaling: RotaryScaling): boolean {
  return "attention_factor" in scaling && Math.fround(scaling.attention_factor) === Math.fround(attention);
}

function llama3Scaling(
  path: string,
  { head_dim, rope_theta }: ModelConfig,
  factors: Tensor["data"],
): RotaryScaling {
  const factor = factors.reduce((most, value) => Math.max(most, value), 0);
  const scaling = { rope_type: "llama3", factor, ...llama3 } as const;
  const expected = llama3Factors(head_dim, rope_theta, scaling);
  const isClose = (value: number, at: number) => Math.abs(value / factors[at]! - 1) < 1e-4;
  if (expected.length === factors.length && expected.every(isClose)) return scaling;
  throw unsupportedGguf(path, `${llama3Name} holds other factors than those of Llama 3`);
}
