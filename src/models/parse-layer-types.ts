import { type Family, families } from "./families.ts";
import { configError, type LayerType } from "./model-config.ts";

/** What transformers takes where config.json has no sliding_window. */
const usualWindow = 4096;

/** The sliding window of a config.json, as transformers understands it for a family; null for none. */
export function parseSlidingWindow(json: Readonly<Record<string, unknown>>, family: Family): number | null {
  const { sliding } = families[family];
  if (sliding === "never" || (sliding === "chosen" && json.use_sliding_window !== true)) return null;
  const { sliding_window: window = usualWindow } = json;
  return typeof window === "number" ? window : null;
}

/**
 * Which layers see the window alone. Throws MODEL_CONFIG_INVALID for kinds of layers that there aren't, and where a
 * family's layers are all alike for those that say otherwise: transformers would ignore them.
 */
export function parseLayerTypes(
  json: Readonly<Record<string, unknown>>,
  { family, layers, window, path }: { family: Family; layers: number; window: number | null; path: string },
): LayerType[] {
  const { sliding } = families[family];
  const first = sliding === "chosen" ? Number(json.max_window_layers ?? 28) : 0;
  const usual = Array.from(
    { length: layers },
    (_, layer): LayerType => (window !== null && layer >= first ? "sliding_attention" : "full_attention"),
  );
  const given = json.layer_types;
  if (!Array.isArray(given)) return usual;
  return given.map((type: unknown, layer) => {
    const isKnown = type === "full_attention" || type === "sliding_attention";
    if (isKnown && (sliding === "chosen" || type === usual[layer])) return type;
    const place = `${path}: layer_types holds ${JSON.stringify(type)}`;
    throw configError(`${place}, which is not supported in a ${family} model of this sliding_window`);
  });
}
