import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ImageEmbeddings, PlacedImage } from "../../contracts/image-tokens.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import { openVisionWeights } from "../models/weights/checkpoint.ts";
import { checkShapes } from "../models/weights/model-weights.ts";
import { isAdapterFolder } from "../models/weights/policy-weights.ts";
import { visionDigest } from "../models/weights/vision-digest.ts";
import { visionWeightShapes } from "../models/weights/vision-weights.ts";
import { createImageTable, type PlacedTokens } from "./image-table.ts";
import { openEncoder, openProcessor, type ReadImageBytes, type Vision, visionOf } from "./open-vision.ts";

/** Tokens whose image tokens have ids of their own, and the embeddings of these ids. */
export interface SeenTokens extends PlacedTokens {
  embeddings: ImageEmbeddings;
}

/** The vision parts of a policy's versions. Versions with equal weights share one, with the images that it encoded. */
export interface PolicyVision {
  /** Opens the vision part of a version's folder. That of an adapter is its base's. */
  load(version: number, folder: string): Promise<void>;
  /** Releases the vision part of a version, once nothing is being encoded with it. */
  release(version: number): Promise<void>;
  /** Places tokens under a version, as `Vision.place` does. Throws POLICY_VERSION_NOT_LOADED too. */
  place(
    version: number,
    tokens: readonly number[],
    images: readonly PlacedImage[],
    readImage: ReadImageBytes | undefined,
  ): Promise<SeenTokens>;
  /** Decodes an image, and returns its upright size. Throws an error that explains why it can't be read. */
  measure(sha256: string, read: () => Promise<Uint8Array>): Promise<{ width: number; height: number }>;
  close(): Promise<void>;
}

/** A vision part, and the number of versions and placements that use it. */
interface Part {
  key: string;
  vision: Promise<Vision>;
  users: number;
}

/**
 * Opens the vision parts of a policy whose version 0, or the base of its adapters, is in a folder. Undefined for a model
 * that reads only text. Throws the errors of `openVision`.
 */
export async function openPolicyVision(
  base: string,
  config: ModelConfig,
  { threads = 2 }: { threads?: number | undefined } = {},
): Promise<PolicyVision | undefined> {
  const { vision } = config;
  if (!vision) return undefined;
  const reader = await openProcessor(base);
  const parts = new Map<string, Part>();
  const versions = new Map<number, Part>();
  checkShapes(visionWeightShapes(config), await openVisionWeights(base));
  let baseDigest: string | undefined;
  /** Returns the digest of a folder's weights, or "base" for those of `base`. */
  const keyOf = async (folder: string) => {
    if (folder === base) return "base";
    baseDigest ??= await visionDigest(base, config);
    const digest = await visionDigest(folder, config);
    return digest === baseDigest ? "base" : digest;
  };

  const openPart = async (folder: string) => {
    const encoder = await openEncoder(folder, config, vision, threads);
    return visionOf(createImageTable(encoder, config, vision), reader, encoder.close);
  };
  const leave = async (part: Part) => {
    part.users--;
    if (part.users > 0) return;
    parts.delete(part.key);
    await (await part.vision).close();
  };

  return {
    async load(version, given) {
      const folder = isAdapterFolder(given) ? base : given;
      const key = await keyOf(folder);
      if (versions.has(version)) return;
      const part = parts.get(key) ?? { key, vision: openPart(folder), users: 0 };
      parts.set(key, part);
      part.users++;
      versions.set(version, part);
      try {
        await part.vision;
      } catch (error) {
        parts.delete(key);
        versions.delete(version);
        throw error;
      }
    },
    async release(version) {
      const part = versions.get(version);
      versions.delete(version);
      if (part) await leave(part);
    },
    async place(version, ...given) {
      const part = versions.get(version);
      if (!part) throw new EverturnError("POLICY_VERSION_NOT_LOADED", { version });
      part.users++;
      try {
        const { embeddings, place } = await part.vision;
        return { ...(await place(...given)), embeddings };
      } finally {
        await leave(part);
      }
    },
    measure: async (sha256, read) => {
      const { width, height } = await reader.look(sha256, read);
      return { width, height };
    },
    async close() {
      versions.clear();
      for (const { vision: opened } of parts.values()) await (await opened).close();
      parts.clear();
    },
  };
}
