import type { ModelConfig } from "../config/model-config.ts";
import { patchesPerSide } from "../config/vision-config.ts";
import { modelWeightShapes } from "./model-weights.ts";

/** The modules of vision parts. */
const visionModules = ["model.vision_model.", "model.connector."];

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
  return stored.replace(/^model\.text_model\./, "model.");
}

/** Returns the names in checkpoints of a model's weights, from the names of all of them. */
export function storedNames(names: Iterable<string>): Map<string, string> {
  const all = [...names];
  const hasVision = all.some(isVisionWeight);
  const stored = (name: string) =>
    hasVision && !isVisionWeight(name) ? name.replace(/^model\./, "model.text_model.") : name;
  return new Map(all.map((name) => [name, stored(name)]));
}

/** Returns the shapes of a vision part's weights by Hugging Face's names; none for a model that reads only text. */
export function visionWeightShapes({ vision, hidden_size: output }: ModelConfig): Map<string, number[]> {
  const shapes = new Map<string, number[]>();
  if (!vision) return shapes;
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

/** Returns the shapes of a model's weights, including those of its vision part. */
export function allWeightShapes(config: ModelConfig): Map<string, number[]> {
  return new Map([...modelWeightShapes(config), ...visionWeightShapes(config)]);
}
