import type { ModelConfig } from "../config/model-config.ts";
import { type PatchVision, patchesPerSide, type TileVision } from "../config/vision-config.ts";
import { modelWeightShapes } from "./model-weights.ts";

/** The modules of vision parts. */
const visionModules = ["model.vision_model.", "model.connector.", "model.visual."];

/** Whether a weight belongs to the vision part of a model. */
export function isVisionWeight(name: string): boolean {
  return visionModules.some((module) => name.startsWith(module));
}

/** Returns the weights that don't belong to the vision part. */
export function languageWeights<Weight>(weights: ReadonlyMap<string, Weight>): Map<string, Weight> {
  return new Map([...weights].filter(([name]) => !isVisionWeight(name)));
}

/**
 * Returns the engine's name of a weight in a checkpoint. The language part of a vision-language model has the names of
 * a language model.
 */
export function innerName(stored: string): string {
  return stored.replace(/^model\.(text|language)_model\./, "model.").replace(/^visual\./, "model.visual.");
}

/** Returns the names in checkpoints of a model's weights, from the names of all of them. */
export function storedNames(names: Iterable<string>): Map<string, string> {
  const all = [...names];
  const hasTiles = all.some((name) => isVisionWeight(name) && !name.startsWith("model.visual."));
  const stored = (name: string) =>
    hasTiles && !isVisionWeight(name)
      ? name.replace(/^model\./, "model.text_model.")
      : name.replace(/^model\.visual\./, "visual.");
  return new Map(all.map((name) => [name, stored(name)]));
}

/** Returns the shapes of a vision part's weights by Hugging Face's names; none for a model that reads only text. */
export function visionWeightShapes({ vision, hidden_size: output }: ModelConfig): Map<string, number[]> {
  if (!vision) return new Map();
  return vision.model_type === "qwen2_5_vl"
    ? patchWeightShapes(vision, output)
    : tileWeightShapes(vision, output);
}

function tileWeightShapes(vision: TileVision, output: number): Map<string, number[]> {
  const shapes = new Map<string, number[]>();
  const {
    hidden_size: hidden,
    intermediate_size: inner,
    patch_size: patch,
    ...encoder
  } = vision.vision_config;
  const add = (name: string, shape: number[]) => shapes.set(`model.vision_model.${name}`, shape);
  const addWithBias = (name: string, shape: number[]) => {
    add(`${name}.weight`, shape);
    add(`${name}.bias`, [shape[0]!]);
  };
  addWithBias("embeddings.patch_embedding", [hidden, 3, patch, patch]);
  add("embeddings.position_embedding.weight", [patchesPerSide(vision) ** 2, hidden]);
  for (let layer = 0; layer < encoder.num_hidden_layers; layer++) {
    const parent = `encoder.layers.${layer}`;
    for (const module of ["k_proj", "v_proj", "q_proj", "out_proj"])
      addWithBias(`${parent}.self_attn.${module}`, [hidden, hidden]);
    addWithBias(`${parent}.layer_norm1`, [hidden]);
    addWithBias(`${parent}.mlp.fc1`, [inner, hidden]);
    addWithBias(`${parent}.mlp.fc2`, [hidden, inner]);
    addWithBias(`${parent}.layer_norm2`, [hidden]);
  }
  addWithBias("post_layernorm", [hidden]);
  shapes.set("model.connector.modality_projection.proj.weight", [output, hidden * vision.scale_factor ** 2]);
  return shapes;
}

function patchWeightShapes({ vision_config: shape }: PatchVision, output: number): Map<string, number[]> {
  const { hidden_size: hidden, intermediate_size: inner, patch_size: patch } = shape;
  const joined = hidden * shape.spatial_merge_size ** 2;
  const shapes = new Map<string, number[]>();
  const add = (name: string, of: number[]) => shapes.set(`model.visual.${name}`, of);
  const addWithBias = (name: string, of: [number, number]) => {
    add(`${name}.weight`, of);
    add(`${name}.bias`, [of[0]]);
  };
  add("patch_embed.proj.weight", [hidden, 3, shape.temporal_patch_size, patch, patch]);
  for (let layer = 0; layer < shape.depth; layer++) {
    const parent = `blocks.${layer}`;
    add(`${parent}.norm1.weight`, [hidden]);
    add(`${parent}.norm2.weight`, [hidden]);
    addWithBias(`${parent}.attn.qkv`, [3 * hidden, hidden]);
    addWithBias(`${parent}.attn.proj`, [hidden, hidden]);
    addWithBias(`${parent}.mlp.gate_proj`, [inner, hidden]);
    addWithBias(`${parent}.mlp.up_proj`, [inner, hidden]);
    addWithBias(`${parent}.mlp.down_proj`, [hidden, inner]);
  }
  add("merger.ln_q.weight", [hidden]);
  addWithBias("merger.mlp.0", [joined, joined]);
  addWithBias("merger.mlp.2", [output, joined]);
  return shapes;
}

/** Returns the shapes of a model's weights, including those of its vision part. */
export function allWeightShapes(config: ModelConfig): Map<string, number[]> {
  return new Map([...modelWeightShapes(config), ...visionWeightShapes(config)]);
}
