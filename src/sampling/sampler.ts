import { EverturnError } from "../errors/everturn-error.ts";
import { type CachedDecoder, createCachedDecoder } from "../models/cached-decoder.ts";
import type { ModelConfig } from "../models/model-config.ts";
import type { Tensor } from "../models/safetensors.ts";
import type { Target } from "../onnx/target.ts";
import { type Batch, createBatch } from "./batch.ts";
import { createSequence, type Sample, type SampleRequest, type Sequence } from "./sequence.ts";

/** What a sampler is made of. */
export type SamplerOptions = {
  config: ModelConfig;
  /** Sequences that decode together; others wait. */
  slots: number;
  /** Tokens that end a continuation. */
  stopTokens: readonly number[];
  /** Threads an operator may use. */
  threads: number;
  /** Where the models run, and what their matrix products compute in; default float32 on the CPU. */
  target?: Target;
};

/** Samples continuations of many contexts at once, of several versions of the weights. */
export type Sampler = {
  /** Makes a version ready; `read` is called only when it isn't. Versions long unused are let go. */
  load(version: number, read: () => Promise<ReadonlyMap<string, Tensor>>): Promise<void>;
  /**
   * Samples a continuation. A context that fills max_position_embeddings gives none, with finishReason "length".
   * Fails with POLICY_VERSION_NOT_LOADED, or TOKENS_INVALID for ids outside the vocabulary.
   */
  generate(request: SampleRequest): Promise<Sample>;
  /** Fails what is under way and frees the models. */
  close(): Promise<void>;
};

type Version = { model: CachedDecoder; batch: Batch; waiting: Sequence[]; open: Set<Sequence> };

/** Versions kept ready: the newest, and those that evaluations or late trajectories still ask for. */
const versionsKept = 3;

/**
 * A sampler with continuous batching: between two steps, waiting requests join and finished ones leave. What a
 * request samples depends on its context, weights and key alone, not on who shares its batch (on x64 its
 * log-probabilities are equal to the last bit).
 */
export function createSampler(options: SamplerOptions): Sampler {
  const { config, slots, threads } = options;
  const stopTokens = new Set(options.stopTokens);
  /** By recency of use, the latest last. */
  const versions = new Map<number, Version>();
  const loading = new Map<number, Promise<void>>();
  let working = false;

  const touch = (number: number): Version | undefined => {
    const version = versions.get(number);
    if (version && versions.delete(number)) versions.set(number, version);
    return version;
  };

  const letGo = async () => {
    const idle = [...versions].slice(0, -1).filter(([, version]) => version.open.size === 0);
    for (const [number, version] of idle.slice(0, Math.max(0, versions.size - versionsKept))) {
      versions.delete(number);
      await version.model.close();
    }
  };

  const create = async (number: number, read: () => Promise<ReadonlyMap<string, Tensor>>) => {
    const model = await createCachedDecoder(config, await read(), threads, options.target);
    versions.set(number, { model, batch: createBatch(model, slots), waiting: [], open: new Set() });
    await letGo();
  };

  const work = async () => {
    working = true;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const busy = [...versions.values()].filter((version) => version.open.size > 0);
      if (busy.length === 0) break;
      for (const { waiting, batch } of busy) {
        const taken = busy.reduce((total, version) => total + version.batch.size(), 0);
        await batch.join(waiting.splice(0, slots - taken).filter((sequence) => !sequence.done));
        await batch.step();
      }
    }
    working = false;
  };

  return {
    async load(number, read) {
      if (touch(number)) return;
      const pending = loading.get(number) ?? create(number, read).finally(() => loading.delete(number));
      loading.set(number, pending);
      await pending;
    },
    async generate(request) {
      const { tokens, sampling, signal } = request;
      const limit = Math.min(sampling.maxTokens, config.max_position_embeddings - tokens.length);
      checkTokens(tokens, config.vocab_size);
      signal?.throwIfAborted();
      if (limit < 1) return { tokens: [], logprobs: [], finishReason: "length" };
      const version = touch(request.version);
      if (!version) throw new EverturnError("POLICY_VERSION_NOT_LOADED", { version: request.version });
      return new Promise((finish, fail) => {
        const settled = (sequence: Sequence) => version.open.delete(sequence);
        const sequence = createSequence(request, { limit, stopTokens }, { settled, finish, fail });
        version.open.add(sequence);
        version.waiting.push(sequence);
        if (!working) void work();
      });
    },
    async close() {
      const all = [...versions.values()];
      versions.clear();
      for (const { open } of all) {
        for (const sequence of [...open]) sequence.fail(new EverturnError("POLICY_CLOSED", {}));
      }
      for (const { model } of all) await model.close();
    },
  };
}

function checkTokens(tokens: readonly number[], vocabulary: number): void {
  if (tokens.length === 0) throw new EverturnError("TOKENS_INVALID", { reason: "is empty" });
  const wrong = tokens.find((token) => !Number.isInteger(token) || token < 0 || token >= vocabulary);
  if (wrong === undefined) return;
  const reason = `holds the id ${wrong}, but the vocabulary ends at ${vocabulary - 1}`;
  throw new EverturnError("TOKENS_INVALID", { reason });
}
