import { type Family, families } from "./families.ts";
import { configError, type LayerType } from "./model-config.ts";

type Json = Readonly<Record<string, unknown>>;

/** Returns the sliding window of a family's config.json as transformers interprets it; null for none. */
export function parseSlidingWindow(json: Json, family: Family): number | null {
  const { layers, onlyIfUsed, usual } = families[family].sliding;
  if (layers === "none" || (onlyIfUsed && json.use_sliding_window !== true)) return null;
  const { sliding_window: window = usual } = json;
  return typeof window === "number" ? window : null;
}

/**
 * Returns, for each layer, 1 if it has RoPE and 0 if not, as transformers interprets a family's config.json. Null: all
 * have it.
 */
export function parseUnrotatedLayers(
  json: Json,
  { family, layers, path }: { family: Family; layers: number; path: string },
): (0 | 1)[] | null {
  if (!families[family].unrotatedLayers) return null;
  const { no_rope_layers: given, no_rope_layer_interval: interval } = json;
  if (!Array.isArray(given)) {
    const step = Number(interval ?? 4);
    return Array.from({ length: layers }, (_, layer) => ((layer + 1) % step === 0 ? 0 : 1));
  }
  if (given.length < layers)
    throw configError(`${path}: no_rope_layers has ${given.length} entries for ${layers} layers`);
  return given.slice(0, layers).map((value) => (value === 0 ? 0 : 1));
}

/** The rules that determine which layers see only the window. */
export interface LayerTypeRules {
  family: Family;
  layers: number;
  window: number | null;
  unrotated: readonly (0 | 1)[] | null;
  path: string;
}

/**
 * Returns which layers see only the window. Throws MODEL_CONFIG_INVALID for unknown layer types, and for types that
 * contradict a family whose layers are all alike, because transformers would ignore them.
 */
export function parseLayerTypes(json: Json, rules: LayerTypeRules): LayerType[] {
  const { family, layers, window, path } = rules;
  const { named } = families[family].sliding;
  const usual = Array.from(
    { length: layers },
    (_, layer): LayerType =>
      window !== null && usuallySlides(json, layer, rules) ? "sliding_attention" : "full_attention",
  );
  const given = json.layer_types;
  if (!Array.isArray(given)) return usual;
  return given.map((type: unknown, layer) => {
    const isKnown = type === "full_attention" || type === "sliding_attention";
    if (isKnown && (named || type === usual[layer])) return type;
    const place = `${path}: layer_types holds ${JSON.stringify(type)}`;
    throw configError(`${place}, which is not supported in a ${family} model of this sliding_window`);
  });
}

function usuallySlides(json: Json, layer: number, { family, unrotated }: LayerTypeRules): boolean {
  const { layers, interval } = families[family].sliding;
  switch (layers) {
    case "none":
      return false;
    case "all":
      return true;
    case "later":
      return layer >= Number(json.max_window_layers ?? 28);
    case "unrotated":
      return unrotated?.[layer] === 0;
    case "but-every": {
      const pattern = family === "gemma3_text" ? json.sliding_window_pattern : undefined;
      return (layer + 1) % Number(pattern ?? interval) !== 0;
    }
  }
}
