import { isObject } from "../../../contracts/json.ts";
import { type Family, families } from "./families.ts";
import { configError, type ModelConfig } from "./model-config.ts";
import { parseRotaryScaling } from "./parse-rotary-scaling.ts";

type Json = Readonly<Record<string, unknown>>;

/** The RoPE settings of a configuration. */
export type RotaryParameters = Pick<
  ModelConfig,
  "rope_theta" | "rope_scaling" | "local_rope" | "partial_rotary_factor"
>;

interface Place {
  family: Family;
  /** max_position_embeddings. */
  positions: number;
  /** head_dim. */
  size: number;
  path: string;
}

/**
 * Reads RoPE's settings from a family's config.json like transformers. `rope_scaling`, the older name of
 * `rope_parameters`, takes precedence. Throws MODEL_CONFIG_INVALID for unsupported settings.
 */
export function parseRotaryParameters(json: Json, place: Place): RotaryParameters {
  const traits = families[place.family];
  const theta = numberAt(json, "rope_theta", traits.theta, place);
  const [older, newer] = [objectAt(json, "rope_scaling"), objectAt(json, "rope_parameters")];
  if (traits.localTheta === undefined) {
    const rope = Object.keys(older).length > 0 ? older : newer;
    return { ...parseRotation(json, rope, theta, place), local_rope: null };
  }
  const localTheta = numberAt(json, "rope_local_base_freq", traits.localTheta, place);
  const local = parseRotation(json, objectAt(newer, "sliding_attention"), localTheta, place);
  return {
    ...parseRotation(json, { ...objectAt(newer, "full_attention"), ...older }, theta, place),
    local_rope: { rope_theta: local.rope_theta, rope_scaling: local.rope_scaling },
  };
}

/** Returns the settings in the form of config.json. */
export function formatRotaryParameters(config: ModelConfig): Record<string, unknown> {
  const { rope_theta, rope_scaling, local_rope, partial_rotary_factor } = config;
  const partial = families[config.model_type].partialRotation ? { partial_rotary_factor } : {};
  const all = { ...rope_scaling, rope_theta, ...partial };
  if (local_rope) {
    const local = { ...local_rope.rope_scaling, rope_theta: local_rope.rope_theta };
    return { rope_parameters: { full_attention: all, sliding_attention: local } };
  }
  // Phi's class has an attribute of that name, which overrides the one in rope_parameters.
  const original =
    config.model_type === "phi3" && rope_scaling.rope_type === "longrope"
      ? { original_max_position_embeddings: rope_scaling.original_max_position_embeddings }
      : {};
  return { ...original, rope_parameters: all };
}

type Rotation = Omit<RotaryParameters, "local_rope">;

function parseRotation(json: Json, rope: Json, theta: number, place: Place): Rotation {
  const { family, positions, size, path } = place;
  const { original_max_position_embeddings: outer = family === "phi3" ? 4096 : undefined } = json;
  const factor = numberAt(
    rope,
    "partial_rotary_factor",
    numberAt(json, "partial_rotary_factor", 1, place),
    place,
  );
  if (factor !== 1 && !families[family].partialRotation) {
    throw configError(`${path}: rope_parameters.partial_rotary_factor is not supported`);
  }
  const parameters = {
    original_max_position_embeddings: positions,
    ...rope,
    ...(typeof outer === "number" && { original_max_position_embeddings: outer }),
  };
  return {
    rope_theta: numberAt(rope, "rope_theta", theta, place),
    rope_scaling: parseRotaryScaling(kindOf(parameters, place), {
      context: positions,
      size: Math.floor(size * factor),
      path,
    }),
    partial_rotary_factor: factor,
  };
}

/** Phi's class supports one kind of scaling under three names. */
function kindOf(rope: Json, { family, path }: Place): Json {
  if (family !== "phi3") return rope;
  const kind = rope.rope_type ?? rope.type ?? "default";
  if (kind === "default") return rope;
  if (kind === "longrope" || kind === "su" || kind === "yarn") return { ...rope, rope_type: "longrope" };
  throw configError(
    `${path}: rope_parameters.rope_type ${JSON.stringify(kind)} is not supported in a phi3 model`,
  );
}

function numberAt(json: Json, name: string, usual: number, { path }: Place): number {
  const value = json[name] ?? usual;
  if (typeof value === "number") return value;
  throw configError(`${path}: ${name} must be a number`);
}

function objectAt(json: Json, name: string): Json {
  const value = json[name];
  return isObject(value) ? value : {};
}
