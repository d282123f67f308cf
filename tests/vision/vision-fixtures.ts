import type { PlacedImage } from "../../src/contracts/image-tokens.ts";
import type { ModelConfig } from "../../src/engine/models/config/model-config.ts";
import type { VisionConfig } from "../../src/engine/models/config/vision-config.ts";
import { modelWeightShapes } from "../../src/engine/models/weights/model-weights.ts";
import type { Tensor } from "../../src/engine/models/weights/safetensors.ts";
import { innerName } from "../../src/engine/models/weights/vision-weights.ts";
import { createImageTable, type ImageTable } from "../../src/engine/vision/image-table.ts";
import { createImageEncoder, type ImageEncoder } from "../../src/engine/vision/open-image-encoder.ts";
import type { PreprocessedImage } from "../../src/engine/vision/preprocessed-image.ts";
import { torchFixture } from "../unit/torch-fixtures.ts";

/** The models of scripts/make-vision-fixtures.py. */
export const visionModels = ["smolvlm", "idefics3", "qwen2_5_vl"];

/** A sequence of the fixtures. Its images are named by their numbers. */
interface FixtureSequence {
  tokens: number[];
  mask: number[];
  images: PlacedImage[];
  greedy: number[];
}

type StoredImage = { tokens: number; grid?: [number, number, number] };
type StoredSequence = Omit<FixtureSequence, "images"> & { images: { image: number; start: number }[] };

/** A fixture with its tensors by the engine's names. */
export interface VisionFixture {
  config: ModelConfig;
  vision: VisionConfig;
  json: Record<string, unknown>;
  tensors: Map<string, Tensor>;
  images: PreprocessedImage[];
  sequences: FixtureSequence[];
  loss: number;
}

/** Reads a fixture of scripts/make-vision-fixtures.py. */
export async function visionFixture(name: string): Promise<VisionFixture> {
  const { config, json, tensors: stored } = await torchFixture(name, "vision");
  if (!config.vision) throw new Error(`${name} has no vision part`);
  const tensors = new Map(
    Array.from(stored, ([key, tensor]) => {
      const [, prefix = "", own = key] = /^((?:gradient|after)\.)?(.*)$/.exec(key) ?? [];
      return [prefix + innerName(own), tensor];
    }),
  );
  const images = (json.images as StoredImage[]).map(({ tokens, grid }, index): PreprocessedImage => {
    const { shape, data } = tensors.get(`pixels.${index}`)!;
    if (grid) return { kind: "patches", pixels: data, grid, tokens };
    const [tiles = 0, , height = 0, width = 0] = shape;
    return { kind: "tiles", pixels: data, tiles, height, width, tokens };
  });
  const sequences = (json.sequences as StoredSequence[]).map((sequence) => ({
    ...sequence,
    images: sequence.images.map(({ image, start }) => ({ sha256: String(image), start })),
  }));
  return { config, vision: config.vision, json, tensors, images, sequences, loss: Number(json.loss) };
}

/** Opens a fixture's encoder and an empty table of its images. */
export function openImages({ config, vision, tensors }: VisionFixture): {
  encoder: ImageEncoder;
  table: ImageTable;
} {
  const encoder = createImageEncoder(config, vision, { tensors }, { threads: 1 });
  return { encoder, table: createImageTable(encoder, config, vision) };
}

/** The weights of a fixture's language part. */
export function languageTensors({ config, tensors }: VisionFixture): Map<string, Tensor> {
  return new Map([...modelWeightShapes(config).keys()].map((name) => [name, tensors.get(name)!]));
}
