import type { Activation } from "./families.ts";

/**
 * The vision part of Idefics3 and SmolVLM: a SigLIP encoder of tiles, and a connector that joins scale_factor²
 * neighboring patches to an image token. The fields are those of Hugging Face's config.json.
 */
export interface TileVision {
  model_type: "idefics3" | "smolvlm";
  /** The token in a text that is replaced by what the encoder sees. */
  image_token_id: number;
  scale_factor: number;
  vision_config: VisionEncoderShape;
}

/** The shape of a vision transformer whose patches have learned positions. */
export interface VisionEncoderShape {
  hidden_size: number;
  intermediate_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  /** The height and width of the tiles that the positions are learned for. */
  image_size: number;
  patch_size: number;
  layer_norm_eps: number;
  hidden_act: Exclude<Activation, "silu">;
}

/** The vision part of a vision-language model. */
export type VisionConfig = TileVision;

/** The class of `transformers` and the default of image_token_id by config.json's model_type. */
export const visionFamilies: Readonly<
  Record<VisionConfig["model_type"], { architecture: string; imageToken: number }>
> = {
  idefics3: { architecture: "Idefics3ForConditionalGeneration", imageToken: 128_257 },
  smolvlm: { architecture: "SmolVLMForConditionalGeneration", imageToken: 128_257 },
};

/** Whether a text names a family of vision-language models. */
export function isVisionFamily(text: unknown): text is VisionConfig["model_type"] {
  return typeof text === "string" && Object.hasOwn(visionFamilies, text);
}

/** Returns the number of patches along a side of a tile of the usual size. */
export function patchesPerSide({ vision_config }: TileVision): number {
  return Math.floor(vision_config.image_size / vision_config.patch_size);
}
