/** GGUF's name of each module, by Hugging Face's. */
const modules: ReadonlyMap<string, string> = new Map([
  ["model.embed_tokens", "token_embd"],
  ["model.norm", "output_norm"],
  ["lm_head", "output"],
]);

/** The same inside a layer. */
const layerModules: ReadonlyMap<string, string> = new Map([
  ["input_layernorm", "attn_norm"],
  ["self_attn.q_proj", "attn_q"],
  ["self_attn.k_proj", "attn_k"],
  ["self_attn.v_proj", "attn_v"],
  ["self_attn.o_proj", "attn_output"],
  ["self_attn.q_norm", "attn_q_norm"],
  ["self_attn.k_norm", "attn_k_norm"],
  ["post_attention_layernorm", "ffn_norm"],
  ["mlp.gate_proj", "ffn_gate"],
  ["mlp.up_proj", "ffn_up"],
  ["mlp.down_proj", "ffn_down"],
]);

/** The name that a weight with Hugging Face's name has in a GGUF file. */
export function ggufName(name: string): string {
  const [, layer, module = "", kind = ""] =
    /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? [];
  const found = (layer === undefined ? modules : layerModules).get(module);
  if (found === undefined) throw new Error(`no GGUF name is known for ${name}`);
  return `${layer === undefined ? "" : `blk.${layer}.`}${found}.${kind}`;
}
