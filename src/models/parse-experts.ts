import { type Family, families } from "./families.ts";
import { configError, type Experts } from "./model-config.ts";

/** The experts of a family's config.json, as transformers reads it; null where no layer has any. */
export function parseExperts(
  json: Readonly<Record<string, unknown>>,
  { family, layers, path }: { family: Family; layers: number; path: string },
): Experts | null {
  if (!families[family].experts) return null;
  const number = (name: string, usual: number): number => {
    const value = json[name] ?? usual;
    if (typeof value === "number") return value;
    throw configError(`${path}: ${name} must be a number`);
  };
  const { mlp_only_layers } = json;
  const named: unknown[] = Array.isArray(mlp_only_layers) ? mlp_only_layers : [];
  const step = number("decoder_sparse_step", 1);
  const count = number("num_experts", number("num_local_experts", 128));
  const all = Array.from({ length: layers }, (_, layer) => layer);
  const dense = all.filter((layer) => named.includes(layer) || (layer + 1) % step !== 0);
  if (count === 0 || dense.length === layers) return null;
  return {
    num_experts: count,
    num_experts_per_tok: number("num_experts_per_tok", 8),
    moe_intermediate_size: number("moe_intermediate_size", 768),
    norm_topk_prob: json.norm_topk_prob === true,
    mlp_only_layers: dense,
  };
}
