import { families } from "../../config/families.ts";
import type { ModelConfig } from "../../config/model-config.ts";

/** GGUF's names of modules, by Hugging Face's. */
const modules: ReadonlyMap<string, string> = new Map([
  ["model.embed_tokens", "token_embd"],
  ["model.norm", "output_norm"],
  ["lm_head", "output"],
]);

/** GGUF's names of modules inside a layer. */
const layerModules: ReadonlyMap<string, string> = new Map([
  ["input_layernorm", "attn_norm"],
  ["self_attn.q_proj", "attn_q"],
  ["self_attn.k_proj", "attn_k"],
  ["self_attn.v_proj", "attn_v"],
  ["self_attn.qkv_proj", "attn_qkv"],
  ["self_attn.o_proj", "attn_output"],
  ["self_attn.q_norm", "attn_q_norm"],
  ["self_attn.k_norm", "attn_k_norm"],
  ["post_attention_layernorm", "ffn_norm"],
  ["mlp.gate_proj", "ffn_gate"],
  ["mlp.up_proj", "ffn_up"],
  ["mlp.gate_up_proj", "ffn_up"],
  ["mlp.down_proj", "ffn_down"],
  ["mlp.gate", "ffn_gate_inp"],
  ["mlp.experts.gate_proj", "ffn_gate_exps"],
  ["mlp.experts.up_proj", "ffn_up_exps"],
  ["mlp.experts.down_proj", "ffn_down_exps"],
]);

/** The differences for families with a norm after attention and feed-forward block. */
const normsAfter: ReadonlyMap<string, string> = new Map([
  ["post_attention_layernorm", "post_attention_norm"],
  ["pre_feedforward_layernorm", "ffn_norm"],
  ["post_feedforward_layernorm", "post_ffw_norm"],
]);

/** Returns GGUF's tensor name for a weight with Hugging Face's name. Experts share a tensor. */
export function ggufName({ model_type }: ModelConfig, name: string): string {
  const [, layer, module = "", kind = ""] =
    /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? [];
  const joined = module.replace(/\.experts\.\d+\./, ".experts.");
  const own = families[model_type].normsAfter ? normsAfter.get(joined) : undefined;
  const found = own ?? (layer === undefined ? modules : layerModules).get(joined);
  if (found === undefined) throw new Error(`no GGUF name is known for ${name}`);
  return `${layer === undefined ? "" : `blk.${layer}.`}${found}.${kind}`;
}

/**
 * Returns the weights in each of a GGUF file's tensors by Hugging Face's names: one weight, or those of its experts in
 * order.
 */
export function weightsByTensor(config: ModelConfig, names: Iterable<string>): Map<string, string[]> {
  const tensors = new Map<string, string[]>();
  for (const name of names) {
    const tensor = ggufName(config, name);
    tensors.set(tensor, [...(tensors.get(tensor) ?? []), name]);
  }
  return tensors;
}
