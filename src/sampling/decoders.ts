import { resolve } from "node:path";
import { readAdapter } from "../models/adapter-folder.ts";
import { type CachedDecoder, createCachedDecoder, type DecoderOptions } from "../models/cached-decoder.ts";
import type { AdapterShape } from "../models/cached-decoder-graph.ts";
import type { ModelConfig } from "../models/model-config.ts";
import { isAdapterFolder } from "../models/policy-weights.ts";
import type { Tensor } from "../models/safetensors.ts";
import { weightSources } from "../models/weight-sources.ts";

/** A decoder on loan, with the adapter to feed to it. */
export interface DecoderLease {
  model: CachedDecoder;
  adapter?: ReadonlyMap<string, Tensor>;
  /** Gives it back; the last to do so closes it. */
  release(): Promise<void>;
}

/** Opens decoders for the folders of versions. Adapters of one shape on one base share a decoder. */
export function createDecoders(
  config: ModelConfig,
  options: Omit<DecoderOptions, "adapter">,
): { open(folder: string): Promise<DecoderLease> } {
  const shared = new Map<string, { model: Promise<CachedDecoder>; users: number }>();

  const lease = async (base: string, adapter?: AdapterShape) => {
    const key = JSON.stringify([base, adapter && [adapter.scale, [...adapter.shapes]]]);
    const make = async () =>
      createCachedDecoder(config, await weightSources(base), { ...options, ...(adapter && { adapter }) });
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
      return { model: await entry.model, release };
    } catch (error) {
      shared.delete(key);
      throw error;
    }
  };

  return {
    async open(folder) {
      if (!isAdapterFolder(folder)) return lease(folder);
      const { config: settings, tensors } = await readAdapter(folder);
      const shapes = new Map([...tensors].map(([name, { shape }]) => [name, shape]));
      const decoder = await lease(resolve(folder, settings.base), {
        scale: settings.alpha / settings.rank,
        shapes,
      });
      return { ...decoder, adapter: tensors };
    },
  };
}
