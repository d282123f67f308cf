import { type Family, families } from "./families.ts";
import { configError, type Experts, type ModelConfig } from "./model-config.ts";

/** Reads the experts of a family's config.json like transformers. Returns null if no layer has any. */
export function parseExperts(
  json: Readonly<Record<string, unknown>>,
  { family, layers, path }: { family: Family; layers: number; path: string },
): Experts | null {
  const traits = families[family].experts;
  if (!traits) return null;
  const number = (name: string, usual: number): number => {
    const value = json[name] ?? usual;
    if (typeof value === "number") return value;
    throw configError(`${path}: ${name} must be a number`);
  };
  const count = number("num_experts", number("num_local_experts", traits.count));
  const everywhere = traits.sizeKey === "intermediate_size";
  const { mlp_only_layers } = json;
  const named: unknown[] = Array.isArray(mlp_only_layers) ? mlp_only_layers : [];
  const step = number("decoder_sparse_step", 1);
  const all = Array.from({ length: layers }, (_, layer) => layer);
  const dense = all.filter((layer) => !everywhere && (named.includes(layer) || (layer + 1) % step !== 0));
  if (!everywhere && (count === 0 || dense.length === layers)) return null;
  return {
    num_experts: count,
    num_experts_per_tok: number("num_experts_per_tok", 8),
    moe_intermediate_size: number(traits.sizeKey, 768),
    norm_topk_prob: json.norm_topk_prob === true,
    mlp_only_layers: dense,
  };
}

/** Returns the experts in the form of config.json. */
export function formatExperts({ model_type, experts }: ModelConfig): Partial<Experts> {
  const traits = families[model_type].experts;
  if (!traits) return {};
  if (!experts || traits.sizeKey === "moe_intermediate_size") return experts ?? { num_experts: 0 };
  const { moe_intermediate_size: _size, mlp_only_layers: _layers, ...rest } = experts;
  return rest;
}
