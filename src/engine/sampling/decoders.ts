import { resolve } from "node:path";
import { defined } from "../../base/records/defined.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { CachedDecoder, DecoderOptions } from "../models/decode/cached-decoder.ts";
import { createCachedDecoder } from "../models/decode/create-cached-decoder.ts";
import type { AdapterShape } from "../models/decode/decoding-model.ts";
import { samplingThreads } from "../models/decode/usual-threads.ts";
import { readAdapter } from "../models/weights/adapter-folder.ts";
import { isAdapterFolder } from "../models/weights/policy-weights.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { weightSources } from "../models/weights/weight-sources.ts";

/** A borrowed decoder, with the adapter to feed to it. */
export interface DecoderLease {
  model: CachedDecoder;
  /** The folder of its weights. For an adapter, the folder of its base. */
  weights: string;
  adapter?: ReadonlyMap<string, Tensor>;
  /** Returns the decoder. The last lease to do so closes it. */
  release(): Promise<void>;
}

/** Decoders for the folders of versions. Adapters of one shape on one base share a decoder. */
export interface Decoders {
  open(folder: string): Promise<DecoderLease>;
  /** Returns the number of open decoders. */
  count(): number;
  /** Returns whether an open decoder serves a folder, and the base of an adapter. */
  lookUp(folder: string): Promise<{ isServed: boolean; base?: string }>;
}

/**
 * Creates the decoders, none of them open yet. Adapters refer to the weights in `base`, or else to those that they
 * name.
 */
export function createDecoders(
  config: ModelConfig,
  { threads, ...options }: Omit<DecoderOptions, "adapter" | "threads"> & { threads?: number | undefined },
  base?: string,
): Decoders {
  const shared = new Map<string, { model: Promise<CachedDecoder>; users: number }>();

  const keyOf = (folder: string, adapter?: AdapterShape) =>
    JSON.stringify([folder, adapter && [adapter.scale, [...adapter.shapes]]]);

  const lease = async (folder: string, adapter?: AdapterShape, rank?: number) => {
    const key = keyOf(folder, adapter);
    const make = async () =>
      createCachedDecoder(
        config,
        await weightSources(folder),
        defined({
          ...options,
          threads: threads ?? samplingThreads(config, rank),
          adapter,
        }),
      );
    const entry = shared.get(key) ?? { model: make(), users: 0 };
    shared.set(key, entry);
    entry.users++;
    const release = async () => {
      entry.users--;
      if (entry.users > 0) return;
      shared.delete(key);
      await (await entry.model).close();
    };
    try {
      return { model: await entry.model, weights: folder, release };
    } catch (error) {
      shared.delete(key);
      throw error;
    }
  };

  return {
    async open(folder) {
      if (!isAdapterFolder(folder)) return lease(folder);
      const { shape, rank, tensors, ...adapter } = await readAdapterVersion(folder, base);
      return { ...(await lease(adapter.base, shape, rank)), adapter: tensors };
    },
    count: () => shared.size,
    async lookUp(folder) {
      if (!isAdapterFolder(folder)) return { isServed: shared.has(keyOf(folder)) };
      const { shape, ...adapter } = await readAdapterVersion(folder, base);
      return { isServed: shared.has(keyOf(adapter.base, shape)), base: adapter.base };
    },
  };
}

async function readAdapterVersion(folder: string, base: string | undefined) {
  const { config, tensors } = await readAdapter(folder);
  const shapes = new Map([...tensors].map(([name, tensor]) => [name, tensor.shape]));
  const shape: AdapterShape = { scale: config.alpha / config.rank, shapes };
  return { base: base ?? resolve(folder, config.base), shape, rank: config.rank, tensors };
}
