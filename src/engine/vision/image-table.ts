import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ImageEmbeddings, PlacedImage } from "../../contracts/image-tokens.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { VisionConfig } from "../models/config/vision-config.ts";
import { keptBytes } from "./encoder-memory.ts";
import type { ImageEncoder } from "./open-image-encoder.ts";
import type { PreprocessedImage } from "./preprocessed-image.ts";

/** Tokens whose image tokens have ids of their own. */
export interface PlacedTokens {
  tokens: number[];
  /** Allows the table to drop the images' embeddings. */
  release(): void;
}

/**
 * The embeddings of images under one version of a vision encoder, by content. The tokens of each image have their own
 * ids, from the size of the vocabulary on. So two sequences with equal ids also see the same images.
 */
export interface ImageTable extends ImageEmbeddings {
  /** Returns the image to which an id belongs. Throws IMAGE_TOKENS_INVALID for an id of none that is held. */
  imageOf(id: number): HeldImage;
  /**
   * Replaces the image tokens of `images` by ids of their own. Encodes images that the table does not hold, which
   * `prepare` provides by their SHA-256. Throws IMAGE_TOKENS_INVALID and the errors of `ImageEncoder.encode`.
   */
  replace(
    tokens: readonly number[],
    images: readonly PlacedImage[],
    prepare: (sha256: string) => Promise<PreprocessedImage>,
  ): Promise<PlacedTokens>;
}

/** An image in a table. */
export interface HeldImage {
  /** The id of its first token. */
  readonly first: number;
  readonly count: number;
  /** The tokens down and across. */
  readonly down: number;
  readonly across: number;
  /** Its embeddings, [count, hidden size]. */
  features: Float32Array;
  users: number;
  prepare(): Promise<PreprocessedImage>;
}

/** Creates a table without images. It keeps at most `limit` bytes beyond those in use. */
export function createImageTable(
  encoder: Pick<ImageEncoder, "encode">,
  { vocab_size, hidden_size: width }: ModelConfig,
  { image_token_id: imageToken }: Pick<VisionConfig, "image_token_id">,
  limit = keptBytes,
): ImageTable {
  /** By recency of use, the latest last. */
  const held = new Map<string, Promise<HeldImage>>();
  /** The first id of each image that was ever encoded, so that an image that returns has the same ids. */
  const firsts = new Map<string, number>();
  /** Images by their first ids, in descending order. */
  let known: HeldImage[] = [];
  let next = vocab_size;

  const encode = async (sha256: string, prepare: (sha256: string) => Promise<PreprocessedImage>) => {
    const prepared = await prepare(sha256);
    const features = await encoder.encode(prepared);
    const count = features.length / width;
    const { down, across } = tokenGrid(prepared);
    const first = firsts.get(sha256) ?? next;
    next = Math.max(next, first + count);
    firsts.set(sha256, first);
    const image = { first, count, down, across, features, users: 0, prepare: () => prepare(sha256) };
    known = [...known, image].sort((a, b) => b.first - a.first);
    return image;
  };

  const hold = async (sha256: string, prepare: (sha256: string) => Promise<PreprocessedImage>) => {
    const made = held.get(sha256) ?? encode(sha256, prepare);
    held.delete(sha256);
    held.set(sha256, made);
    try {
      const image = await made;
      image.users++;
      return image;
    } catch (error) {
      if (held.get(sha256) === made) held.delete(sha256);
      throw error;
    }
  };

  const shrink = async () => {
    let bytes = known.reduce((total, { features }) => total + features.byteLength, 0);
    for (const [sha256, made] of held) {
      if (bytes <= limit) return;
      const image = await made.catch(() => undefined);
      if (!image || image.users > 0 || held.get(sha256) !== made) continue;
      held.delete(sha256);
      known = known.filter((other) => other !== image);
      bytes -= image.features.byteLength;
    }
  };

  const heldAt = (token: number): HeldImage => {
    const image = find(token);
    if (image) return image;
    throw invalid(`the id ${token} belongs to no image that is held`);
  };

  const find = (token: number): HeldImage | undefined => {
    const image = known.find(({ first }) => first <= token);
    return image && token < image.first + image.count ? image : undefined;
  };

  return {
    async replace(tokens, images, prepare) {
      const placed = [...tokens];
      const used: HeldImage[] = [];
      const release = () => {
        for (const image of used.splice(0)) image.users--;
      };
      try {
        for (const { sha256, start } of images) {
          const image = await hold(sha256, prepare);
          used.push(image);
          let at = start;
          for (let number = 0; number < image.count; number++) {
            at = placed.indexOf(imageToken, at);
            if (at < 0)
              throw invalid(`${sha256} takes ${image.count} tokens, but only ${number} follow ${start}`);
            placed[at] = image.first + number;
          }
        }
      } catch (error) {
        release();
        throw error;
      }
      await shrink();
      return { tokens: placed, release };
    },
    imageOf: heldAt,
    has: (token) => token >= vocab_size && find(token) !== undefined,
    embedding(token) {
      const { first, features } = heldAt(token);
      return rowOf(features, token - first, width);
    },
    place(token) {
      const { first, down, across } = heldAt(token);
      return { number: token - first, down, across };
    },
  };
}

/** Returns a row of embeddings [tokens, width]. */
export function rowOf(features: Float32Array, number: number, width: number): Float32Array {
  return features.subarray(number * width, (number + 1) * width);
}

/** Returns the tokens of an image down and across. Those of tiles are one column. */
function tokenGrid(image: PreprocessedImage): { down: number; across: number } {
  if (image.kind === "tiles") return { down: image.tokens, across: 1 };
  const [, height, width] = image.grid;
  const side = Math.sqrt((height * width) / image.tokens);
  return { down: height / side, across: width / side };
}

function invalid(reason: string): EverturnError {
  return new EverturnError("IMAGE_TOKENS_INVALID", { reason });
}
