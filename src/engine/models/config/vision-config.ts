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

/**
 * The vision part of Qwen2.5-VL: an encoder of patches at the image's own resolution, most of whose layers attend
 * within windows. The language part rotates by positions in time, height and width.
 */
export interface PatchVision {
  model_type: "qwen2_5_vl";
  image_token_id: number;
  /** How many pairs of a head rotate by each axis, in turn: time, height, width. */
  mrope_section: readonly number[];
  vision_config: PatchEncoderShape;
}

/** The shape of Qwen2.5-VL's encoder. Sizes of patches and windows in pixels. */
export interface PatchEncoderShape {
  depth: number;
  hidden_size: number;
  intermediate_size: number;
  num_heads: number;
  patch_size: number;
  /** The side of the square of patches that becomes one token. */
  spatial_merge_size: number;
  temporal_patch_size: number;
  window_size: number;
  /** The layers that attend to all patches. */
  fullatt_block_indexes: readonly number[];
}

/** The vision part of a vision-language model. */
export type VisionConfig = TileVision | PatchVision;

/** Returns `mrope_section` of a model that rotates by three axes; undefined for others. */
export function rotarySections({ vision }: { vision: VisionConfig | null }): readonly number[] | undefined {
  return vision?.model_type === "qwen2_5_vl" ? vision.mrope_section : undefined;
}

/** Returns the token that a model reads for images and never writes; undefined for a model that reads only text. */
export function unwrittenToken({ vision }: { vision: VisionConfig | null }): number | undefined {
  return vision?.image_token_id;
}

/** The class of `transformers` and the default of image_token_id by config.json's model_type. */
export const visionFamilies: Readonly<
  Record<VisionConfig["model_type"], { architecture: string; imageToken: number }>
> = {
  idefics3: { architecture: "Idefics3ForConditionalGeneration", imageToken: 128_257 },
  qwen2_5_vl: { architecture: "Qwen2_5_VLForConditionalGeneration", imageToken: 151_655 },
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
