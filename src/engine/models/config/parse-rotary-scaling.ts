import { configError } from "./model-config.ts";
import type { RotaryScaling } from "./rotary-scaling.ts";

/**
 * The sizes that a scaling's defaults depend on: max_position_embeddings, and how many numbers of a head are rotated.
 */
export interface RotatedHeads {
  context: number;
  size: number;
  path: string;
}

/**
 * Reads RoPE's scaling from `rope_parameters` (or the older `rope_scaling`) of a config.json. Throws
 * MODEL_CONFIG_INVALID for kinds other than default, linear, llama3, yarn and longrope.
 */
export function parseRotaryScaling(
  rope: Readonly<Record<string, unknown>>,
  { context, size, path }: RotatedHeads,
): RotaryScaling {
  const number = (name: string, fallback?: number): number => {
    const value = rope[name] ?? fallback;
    if (typeof value === "number") return value;
    throw configError(`${path}: rope_parameters.${name} must be a number`);
  };
  const nested = Object.keys(rope).find(
    (name) => typeof rope[name] === "object" && rope[name] !== null && !Array.isArray(rope[name]),
  );
  if (nested !== undefined) {
    throw configError(
      `${path}: rope_parameters.${nested}, parameters of some layers alone, is not supported`,
    );
  }
  const kind = rope.rope_type ?? rope.type ?? "default";
  if (kind === "default") return { rope_type: kind };
  if (kind === "linear") return { rope_type: kind, factor: number("factor") };
  if (kind === "llama3") {
    return {
      rope_type: kind,
      factor: number("factor"),
      low_freq_factor: number("low_freq_factor"),
      high_freq_factor: number("high_freq_factor"),
      original_max_position_embeddings: number("original_max_position_embeddings"),
    };
  }
  if (kind === "yarn") {
    const original = number("original_max_position_embeddings", context);
    const factor = number("factor", context / original);
    const magnitude = (scale: number) => (factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1);
    const [all, some] = [number("mscale_all_dim", 0), number("mscale", 0)];
    return {
      rope_type: kind,
      factor,
      original_max_position_embeddings: original,
      beta_fast: number("beta_fast", 32),
      beta_slow: number("beta_slow", 1),
      attention_factor: number(
        "attention_factor",
        all && some ? magnitude(some) / magnitude(all) : magnitude(1),
      ),
      truncate: rope.truncate !== false,
    };
  }
  if (kind === "longrope") {
    const factors = (name: string): number[] => {
      const values: unknown = rope[name];
      const isList = Array.isArray(values) && values.length === size / 2;
      if (isList && values.every((value) => typeof value === "number")) return values;
      throw configError(`${path}: rope_parameters.${name} must be a list of ${size / 2} numbers`);
    };
    const original = number("original_max_position_embeddings", context);
    const factor = number("factor", context / original);
    const usual = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
    return {
      rope_type: kind,
      factor,
      original_max_position_embeddings: original,
      attention_factor: number("attention_factor", usual),
      short_factor: factors("short_factor"),
      long_factor: factors("long_factor"),
    };
  }
  throw configError(`${path}: rope_parameters.rope_type ${JSON.stringify(kind)} is not supported`);
}
