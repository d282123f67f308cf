import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isThere } from "../../../base/files/is-there.ts";
import { persistently } from "../../../base/files/persistently.ts";
import { isObject } from "../../../contracts/json.ts";
import type { Filter } from "./resample.ts";

/** How a model's processor makes an image into the input of its vision encoder. */
export type ImageProcessor = TileProcessor | PatchProcessor;

interface Normalization {
  filter: Filter;
  /** Of red, green and blue, where 1 is the highest level. */
  mean: readonly number[];
  deviation: readonly number[];
}

/** Idefics3 and SmolVLM: an image is cut into square tiles, followed by a tile with the whole image. */
export interface TileProcessor extends Normalization {
  kind: "tiles";
  /** The longer side of an image before it is cut, in pixels. */
  longestSide: number;
  /** The side of a tile, in pixels. */
  tileSide: number;
  /** Otherwise an image is one tile. */
  cuts: boolean;
  tokensPerTile: number;
}

/** The Qwen-VL models: an image keeps its proportions, and is read in patches. */
export interface PatchProcessor extends Normalization {
  kind: "patches";
  leastPixels: number;
  mostPixels: number;
  /** The side of a patch, in pixels. */
  patch: number;
  /** An image is repeated as this number of frames. */
  frames: number;
  /** The side of the square of patches that becomes one token. */
  merge: number;
}

/** Pillow's numbers of filters. */
const filters: Record<number, Filter> = { 1: "lanczos", 2: "bilinear", 3: "bicubic" };

const imagenetStandard = [0.5, 0.5, 0.5];
const clipMean = [0.48145466, 0.4578275, 0.40821073];
const clipDeviation = [0.26862954, 0.26130258, 0.27577711];

type Json = Record<string, unknown>;

/**
 * Reads the image processor of a Hugging Face folder, from processor_config.json or preprocessor_config.json; undefined
 * if it has none. Throws MODEL_CONFIG_INVALID for other kinds of processors.
 */
export async function readImageProcessor(folder: string): Promise<ImageProcessor | undefined> {
  const whole = await jsonIn(folder, "processor_config.json");
  const nested = whole?.image_processor;
  const file = isObject(nested) ? "processor_config.json" : "preprocessor_config.json";
  const own = isObject(nested) ? nested : await jsonIn(folder, "preprocessor_config.json");
  return own === undefined ? undefined : parseImageProcessor(own, whole ?? {}, join(folder, file));
}

/** Like `readImageProcessor`, from the contents of the files. `path` appears in errors. */
export function parseImageProcessor(json: Json, whole: Json, path: string): ImageProcessor {
  const kind = String(json.image_processor_type ?? "").replace(/(Fast|Pil)$/, "");
  const settings = reader(json, path);
  for (const name of ["do_resize", "do_rescale", "do_normalize", "do_convert_rgb"])
    if (json[name] === false) throw invalid(path, `${name} is false`);
  if (json.rescale_factor !== undefined && Math.abs(settings.number("rescale_factor") - 1 / 255) > 1e-6)
    throw invalid(path, "rescale_factor is not 1/255");
  switch (kind) {
    case "Idefics3ImageProcessor":
    case "SmolVLMImageProcessor":
      return {
        kind: "tiles",
        filter: settings.filter("lanczos"),
        mean: settings.colors("image_mean", imagenetStandard),
        deviation: settings.colors("image_std", imagenetStandard),
        longestSide: settings.within("size", "longest_edge", 4 * 364),
        tileSide: settings.within("max_image_size", "longest_edge", 364),
        cuts: json.do_image_splitting !== false,
        tokensPerTile: reader(whole, path).number("image_seq_len", 169),
      };
    case "Qwen2VLImageProcessor":
      return {
        kind: "patches",
        filter: settings.filter("bicubic"),
        mean: settings.colors("image_mean", clipMean),
        deviation: settings.colors("image_std", clipDeviation),
        leastPixels: settings.number("min_pixels", settings.within("size", "shortest_edge", 56 * 56)),
        mostPixels: settings.number("max_pixels", settings.within("size", "longest_edge", 28 * 28 * 1280)),
        patch: settings.number("patch_size", 14),
        frames: settings.number("temporal_patch_size", 2),
        merge: settings.number("merge_size", 2),
      };
    default:
      throw invalid(path, `image_processor_type is ${JSON.stringify(json.image_processor_type)}`);
  }
}

/** Reads settings by name, with the processor's defaults. */
function reader(json: Json, path: string) {
  const positive = (value: unknown, name: string) => {
    if (typeof value === "number" && value > 0) return value;
    throw invalid(path, `${name} must be a positive number`);
  };
  return {
    number: (name: string, usual?: number) => positive(json[name] ?? usual, name),
    within: (outer: string, name: string, usual: number) => {
      const size = json[outer];
      return positive((isObject(size) ? size[name] : undefined) ?? usual, `${outer}.${name}`);
    },
    filter: (usual: Filter) => {
      const filter = json.resample === undefined ? usual : filters[Number(json.resample)];
      if (filter === undefined) throw invalid(path, `resample is ${JSON.stringify(json.resample)}`);
      return filter;
    },
    colors: (name: string, usual: readonly number[]) => {
      const given = json[name] ?? usual;
      if (!Array.isArray(given) || given.length !== 3) throw invalid(path, `${name} must have three numbers`);
      return given.map((one) => positive(one, name));
    },
  };
}

async function jsonIn(folder: string, name: string): Promise<Json | undefined> {
  const path = join(folder, name);
  if (!isThere(path)) return undefined;
  const text = await persistently(() => readFile(path, "utf8"));
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch (cause) {
    throw invalid(path, "it is not JSON", cause);
  }
  throw invalid(path, "it is not an object");
}

function invalid(path: string, reason: string, cause?: unknown): EverturnError {
  return new EverturnError("MODEL_CONFIG_INVALID", { reason: `${path}: ${reason}` }, { cause });
}
