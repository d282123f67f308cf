import { setImmediate } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { availableMemory } from "../../base/processes/available-memory.ts";
import { defined } from "../../base/records/defined.ts";
import { contextLength, type ModelConfig } from "../models/config/model-config.ts";
import { keyValueTypeOf } from "../models/decode/key-values.ts";
import { quantizedBytes } from "../models/weights/weight-sources.ts";
import { widensForBlocks } from "../models/weights/widened-blocks.ts";
import { cudaMemory } from "../onnx/cuda-memory.ts";
import type { Activations } from "../onnx/quantized-products.ts";
import type { Target } from "../onnx/target.ts";
import { createUsage } from "../onnx/usage.ts";
import { visionBytes } from "../vision/encoder-memory.ts";
import { type Batch, createBatch } from "./batch.ts";
import { createDecoders, type DecoderLease } from "./decoders.ts";
import {
  bytesAlone,
  checkMemory,
  fittingShare,
  mebibytes,
  planMemory,
  usualKeyValueBytes,
  usualKeyValues,
  versionBytes,
} from "./memory-check.ts";
import { blockLength, createPrefixStore } from "./prefix-store.ts";
import { createSequence, emptySample, type Sample, type SampleRequest, type Sequence } from "./sequence.ts";

/** The settings of a sampler. */
export interface SamplerOptions {
  config: ModelConfig;
  /** The most sequences that decode together. Others wait. */
  slots: number;
  /** Tokens that end a continuation. */
  stopTokens: readonly number[];
  /** Returns the text of tokens, in which stop texts are searched. */
  decode: (tokens: readonly number[]) => string;
  /** Threads per operator. Default: `samplingThreads`. */
  threads?: number | undefined;
  /**
   * Most bytes of keys and values, both of active sequences and of kept prompts. Default: 1 GiB, or on the CPU an
   * eighth of the machine's memory if that is more. If less memory is free next to the weights, the sampler uses less,
   * down to a quarter of a configured limit, or to 256 MiB.
   */
  keyValueBytes?: number;
  /** The folder of the adapters' base weights. Default: the one that each adapter names. */
  base?: string;
  /** Where models run, and the type of their matrix products. Default: float32 on the CPU. */
  target?: Target;
  /** The type by which quantized matrices are multiplied. Default: "float32". */
  activations?: Activations;
  /** Keeps keys and values in 8 bits, with scales measured while reading these tokens. Default: float32. */
  roundedBy?: readonly number[];
  /** Loaded and released with each version. */
  alongside?: VersionPart | undefined;
  /** Returns the bytes still available where models run. Default: as reported by the system, or by CUDA for a card. */
  available?: () => number;
}

/** A part of versions that the sampler doesn't use itself. */
export interface VersionPart {
  load(version: number, folder: string): Promise<void>;
  release(version: number): Promise<void>;
}

/** Samples continuations of many contexts at once, under several versions of the weights. */
export interface Sampler {
  /** Whether a version is ready. The question counts as a use of it. */
  isLoaded(version: number): boolean;
  /**
   * Loads a version from a folder: weights or a LoRA adapter. Adapters of the same base share its weights. First
   * releases versions that have been unused for long, those beyond three, and more if memory is short. Throws
   * SAMPLING_MEMORY_SHORT if the first version does not fit with its keys and values, or a later one does not fit next
   * to those in use.
   */
  load(version: number, folder: string): Promise<void>;
  /**
   * Samples a continuation. A context that fills max_position_embeddings yields none, with finishReason "length".
   * Throws SAMPLER_FAILED if the sampler itself is at fault, POLICY_VERSION_NOT_LOADED, TOKENS_INVALID for ids outside
   * the vocabulary, or KEY_VALUE_MEMORY_TOO_SMALL for a request that can't fit by itself.
   */
  generate(request: SampleRequest): Promise<Sample>;
  /** Rejects active and future requests, waits for the current pass, and releases the models. */
  close(): Promise<void>;
}

interface Version {
  decoder: DecoderLease;
  batch: Batch;
  waiting: Sequence[];
  open: Set<Sequence>;
  /** When it was last requested or used, in milliseconds of the process. */
  used: number;
}

/**
 * The number of versions to keep ready if memory suffices: the newest, and those that evaluations or late trajectories
 * still use.
 */
const versionsKept = 3;

/**
 * Milliseconds without use after which another version may replace a version, as after a training step whose rollouts
 * are finished.
 */
const keptIdle = 10_000;

/**
 * Milliseconds that other work in this thread may wait for the steps of a small model. One turn of the event loop costs
 * as much as a step of the smallest model.
 */
const othersWait = 4;

/** Milliseconds without requests after which the memory of sequences' keys and values is released. */
const restAfter = 1000;

/** Milliseconds without requests after which the memory of prompts kept for their next turn is released. */
const forgetAfter = 60_000;

/**
 * Creates a sampler with continuous batching. Between two steps, waiting requests join while slots and memory last, and
 * finished ones leave. A request's sample depends only on its context, weights and key, not on the rest of its batch or
 * on kept prompts. On x64 its log-probabilities are identical to the last bit.
 */
export function createSampler(options: SamplerOptions): Sampler {
  const { config, slots, threads, target, activations, roundedBy } = options;
  const usual = (target?.device ?? "cpu") === "cpu" ? usualKeyValueBytes() : usualKeyValues;
  const { base, keyValueBytes: most = usual, alongside } = options;
  /** Lower if less memory is free when the first version is loaded. */
  let keyValueBytes = most;
  const available = async () => {
    if (options.available) return options.available();
    return target?.device === "cuda" ? (await cudaMemory()).available() : availableMemory();
  };
  const stopTokens = new Set(options.stopTokens);
  const decoders = createDecoders(
    config,
    defined({
      threads,
      target,
      activations,
      roundedBy,
    }),
    base,
  );
  const store = createPrefixStore();
  /** By recency of use, the latest last. */
  const versions = new Map<number, Version>();
  const loading = new Map<number, Promise<void>>();
  /** The most decoders that were open at once. */
  let mostDecoders = 0;
  let arrivals = 0;
  /** The work on requests, until none are left. */
  let working: Promise<void> | undefined;
  let resting: NodeJS.Timeout | undefined;
  const usage = createUsage(closedError);

  const touch = (number: number): Version | undefined => {
    const version = versions.get(number);
    if (!version) return undefined;
    version.used = performance.now();
    versions.delete(number);
    versions.set(number, version);
    return version;
  };

  /** Releases unused versions, the least recently used first, until there is room for one more. */
  const makeRoom = async (folder: string) => {
    const { isServed, base: adapted } = await decoders.lookUp(folder);
    const weightsFolder = adapted ?? folder;
    const isOnProcessor = (target?.device ?? "cpu") === "cpu";
    const plan = planMemory(config, slots, {
      keyValueBytes: most,
      keyValues: keyValueTypeOf(config, target, roundedBy !== undefined),
      weights: versionBytes(
        config,
        defined({
          device: target?.device ? target.device : undefined,
          fewBits: await quantizedBytes(weightsFolder),
          isWidened: isOnProcessor && widensForBlocks(config, weightsFolder, activations),
        }),
      ),
    });
    if (mostDecoders === 0) {
      const share = fittingShare(plan, await available(), options.keyValueBytes !== undefined);
      keyValueBytes = share < 1 ? share * Math.min(most, plan.keyValues) : most;
    }
    const fresh = isServed ? 0 : 1;
    /** Memory of closed decoders counts as available, because the runtime's allocator keeps some of it. */
    const needed = () => ({
      weights: Math.max(0, decoders.count() + fresh - mostDecoders) * (plan.weights + visionBytes(config)),
      keyValues: 0,
    });
    const letGo = async (number: number, { decoder }: Version) => {
      versions.delete(number);
      store.forget(originOf(number));
      await decoder.release();
      await alongside?.release(number);
    };
    const letGoIdle = async (isUnwanted: (version: Version) => boolean) => {
      for (const [number, version] of [...versions])
        if (isIdle(version) && isUnwanted(version)) await letGo(number, version);
    };
    // An adapter's decoder includes its base's weights, so the base alone is released unless it is in use.
    if (adapted !== undefined)
      await letGoIdle(({ decoder }) => decoder.adapter === undefined && decoder.weights === adapted);
    if (!isServed) await letGoIdle(({ used }) => performance.now() - used > keptIdle);
    const isShort = async () => mostDecoders > 0 && needed().weights > (await available());
    while (versions.size >= versionsKept || (await isShort())) {
      const idle = [...versions].find(([, version]) => isIdle(version));
      if (!idle) break;
      await letGo(...idle);
    }
    if (await isShort()) checkMemory(needed(), await available());
  };

  const create = async (number: number, folder: string) => {
    await makeRoom(folder);
    const decoder = await decoders.open(folder);
    const { model, adapter } = decoder;
    try {
      await alongside?.load(number, folder);
    } catch (error) {
      await decoder.release();
      throw error;
    }
    const batch = createBatch(defined({ model, store, origin: originOf(number), adapter }));
    versions.set(number, { decoder, batch, waiting: [], open: new Set(), used: performance.now() });
    mostDecoders = Math.max(mostDecoders, decoders.count());
  };

  const sum = (of: (batch: Batch) => number) =>
    [...versions.values()].reduce((total, { batch }) => total + of(batch), 0);

  /** Adds waiting requests while slots and memory last, first come first served. */
  const join = (version: Version) => {
    const { batch } = version;
    const waiting = version.waiting.filter(({ done }) => !done);
    const free = slots - sum(({ size }) => size());
    const others = sum(({ needs }) => needs(blockLength)) - batch.needs(blockLength);
    const joining: Sequence[] = [];
    for (const sequence of waiting.slice(0, Math.max(0, free))) {
      if (others + batch.needs(blockLength, [...joining, sequence]) > keyValueBytes) break;
      joining.push(sequence);
    }
    version.waiting = waiting.slice(joining.length);
    batch.join(joining.filter((sequence) => sequence.begin()));
  };

  /** Removes the youngest sequences while the next step needs more memory than the limit. They wait to join again. */
  const makeMemory = () => {
    while (sum(({ needs }) => needs(0)) > keyValueBytes) {
      const [last] = [...versions.values()]
        .flatMap(({ batch, waiting }) => batch.youngest().map((sequence) => ({ batch, waiting, sequence })))
        .sort((a, b) => b.sequence.arrival - a.sequence.arrival);
      if (!last) break;
      last.batch.leave(last.sequence);
      last.waiting.unshift(last.sequence);
    }
    if (sum(({ bytes }) => bytes()) > keyValueBytes) for (const { batch } of versions.values()) batch.trim();
    store.limit(keyValueBytes - sum(({ bytes }) => bytes()));
  };

  const work = async () => {
    clearTimeout(resting);
    let waited = Number.NEGATIVE_INFINITY;
    for (;;) {
      if (performance.now() - waited > othersWait) {
        await setImmediate();
        waited = performance.now();
      }
      const busy = [...versions.values()].filter((version) => version.open.size > 0);
      if (busy.length === 0) break;
      for (const version of busy) {
        try {
          if (version.waiting.length > 0) join(version);
          makeMemory();
          await version.batch.step();
        } catch (error) {
          for (const sequence of [...version.open]) sequence.fail(failureOf(error));
        }
      }
    }
    working = undefined;
    resting = setTimeout(() => {
      for (const { batch } of versions.values()) batch.rest();
      resting = setTimeout(() => store.limit(0), forgetAfter - restAfter).unref();
    }, restAfter).unref();
  };

  const sample = async (request: SampleRequest): Promise<Sample> => {
    const { tokens, sampling, signal } = request;
    const limit = Math.min(sampling.maxTokens, contextLength(config) - tokens.length);
    checkTokens(request, config.vocab_size);
    signal?.throwIfAborted();
    if (limit < 1) return emptySample();
    const version = touch(request.version);
    if (!version) throw new EverturnError("POLICY_VERSION_NOT_LOADED", { version: request.version });
    const needed = bytesAlone(version.decoder.model, tokens.length, tokens.length + limit);
    if (needed > keyValueBytes) {
      const sizes = { needed: mebibytes(needed), available: mebibytes(keyValueBytes) };
      throw new EverturnError("KEY_VALUE_MEMORY_TOO_SMALL", sizes);
    }
    return new Promise((finish, fail) => {
      const settled = (ended: Sequence) => {
        version.used = performance.now();
        version.open.delete(ended);
      };
      const limits = { arrival: arrivals++, limit, stopTokens, decode: options.decode };
      const sequence = createSequence(request, limits, { settled, finish, fail });
      version.open.add(sequence);
      version.waiting.push(sequence);
      working ??= work();
    });
  };

  /** Waits until nothing is being loaded. */
  const free = async () => {
    await working;
    clearTimeout(resting);
    for (const { decoder } of versions.values()) await decoder.release();
    versions.clear();
  };

  return {
    isLoaded: (number) => touch(number) !== undefined,
    async load(number, folder) {
      usage.check();
      if (touch(number)) return;
      // One after the other, because each uses the memory that the others leave.
      const last = [...loading.values()].at(-1)?.catch(() => {});
      const make = async () => {
        await last;
        await create(number, folder).finally(() => loading.delete(number));
      };
      const pending = loading.get(number) ?? usage.during(make);
      loading.set(number, pending);
      await pending;
    },
    async generate(request) {
      try {
        usage.check();
        return await sample(request);
      } finally {
        request.constraint?.dispose();
      }
    },
    close() {
      const closed = usage.end(free);
      for (const { open } of versions.values()) {
        for (const sequence of [...open]) sequence.fail(closedError());
      }
      return closed;
    },
  };
}

/** Returns the name of a version's weights in the store. */
function originOf(version: number): string {
  return `version ${version}`;
}

function isIdle({ open }: Version): boolean {
  return open.size === 0;
}

function closedError(): EverturnError {
  return new EverturnError("POLICY_CLOSED", {});
}

/** Returns the error for a request if the sampler itself was at fault. */
function failureOf(cause: unknown): EverturnError {
  if (cause instanceof EverturnError) return cause;
  const reason = messageOf(cause);
  return new EverturnError("SAMPLER_FAILED", { reason }, { cause });
}

function checkTokens({ tokens, embeddings }: SampleRequest, vocabulary: number): void {
  if (tokens.length === 0) throw new EverturnError("TOKENS_INVALID", { reason: "is empty" });
  const isKnown = (token: number) => token < vocabulary || embeddings?.has(token);
  const wrong = tokens.find((token) => !Number.isInteger(token) || token < 0 || !isKnown(token));
  if (wrong === undefined) return;
  const reason = `holds the id ${wrong}, but the vocabulary ends at ${vocabulary - 1}`;
  throw new EverturnError("TOKENS_INVALID", { reason });
}
