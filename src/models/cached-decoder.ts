import { modelBytes } from "../onnx/model-bytes.ts";
import { createSession, type Session } from "../onnx/session.ts";
import type { Target } from "../onnx/target.ts";
import { type AdapterShape, cachedDecoderGraph } from "./cached-decoder-graph.ts";
import { decoderFeeds } from "./decoder-feeds.ts";
import { joinWeights } from "./join-weights.ts";
import type { ModelConfig } from "./model-config.ts";
import { checkModelWeights } from "./model-weights.ts";
import type { Tensor } from "./safetensors.ts";
import type { WeightSources } from "./weight-sources.ts";

/** Keys (rotated) and values, one array a layer, each [rows, key-value heads, positions, head size]. */
export interface KeyValues {
  keys: Float32Array[];
  values: Float32Array[];
}

/** What the rows have seen already: room for `capacity` positions each, of which row i uses the first lengths[i]. */
export interface Past extends KeyValues {
  capacity: number;
  lengths: readonly number[];
}

/** One run: the new tokens of each row (at least one), which come after those in `past` (default: none). */
export interface DecoderRun {
  tokens: readonly (readonly number[])[];
  past?: Past;
  /** Each row is padded to this many new tokens; default: those of the longest. */
  length?: number;
  /** A LoRA adapter's matrices by name, if the decoder was made for one. */
  adapter?: ReadonlyMap<string, Tensor>;
  /** 1 / temperature of each row, for `weights`; default 1. */
  inverseTemperatures?: Float32Array;
  /** What to give beside keys and values; fetching costs time by the byte. Default: the logits. */
  wanted?: readonly NextTokenOutput[];
}

/** "logits" and "weights" are [rows, vocabulary]; "choice" is each row's likeliest token and its probability. */
export type NextTokenOutput = "choice" | "logits" | "weights";

/** Keys and values of the new tokens, padded to `length`, and what was wanted about the next token of each row. */
export interface DecoderOutput extends KeyValues {
  length: number;
  likeliest: BigInt64Array;
  /** The probability of the likeliest token. */
  certainties: Float32Array;
  logits: Float32Array;
  /** e^((l − largest l) / temperature). */
  weights: Float32Array;
}

/** A decoder that reads new tokens after remembered ones. */
export interface CachedDecoder {
  readonly config: ModelConfig;
  /** Capacities of remembered positions must be a multiple of this, so that rounding doesn't depend on them. */
  readonly capacityStep: number;
  /** Copies nothing of `past`. What wasn't wanted is empty. */
  run(request: DecoderRun): Promise<DecoderOutput>;
  close(): Promise<void>;
}

/** How a decoder is made. */
export interface DecoderOptions {
  threads: number;
  /** Default: float32 on the CPU. */
  target?: Target;
  adapter?: AdapterShape;
}

/**
 * Prepares a decoding model. The weights are constants of the graph, which ONNX Runtime packs once; its packed
 * products give a row the same numbers whatever the other rows are, and padding adds exact zeros, so that a sequence
 * doesn't depend on its batch (on x64, to the last bit). Throws MODEL_WEIGHTS_MISMATCH.
 */
export async function createCachedDecoder(
  config: ModelConfig,
  sources: WeightSources,
  { threads, target = {}, adapter }: DecoderOptions,
): Promise<CachedDecoder> {
  checkModelWeights(config, sources.tensors);
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer);
  const cacheNames = layers.flatMap((layer) => [`keys${layer}`, `values${layer}`]);
  const weights = joinedIfRead(config, sources);
  const open = async (length?: number): Promise<OpenGraph> => {
    const graph = cachedDecoderGraph(config, weights, { adapter, ...(length !== undefined && { length }) });
    const session = await createSession(modelBytes(graph, target), {
      threads,
      device: target.device ?? "cpu",
      ...(sources.folder !== undefined && { weightsFolder: sources.folder }),
    });
    return { session, inputs: new Set(graph.inputs.map(({ name }) => name)) };
  };
  const several = await open();
  // A small model has another copy, for decoding alone.
  const single = sources.folder === undefined ? await open(1) : several;
  const empty = new Float32Array(0);

  return {
    config,
    capacityStep: Math.max(64, config.head_dim),
    async run({ tokens, adapter: matrices, inverseTemperatures, wanted = ["logits"], ...run }) {
      const rows = tokens.length;
      const length = run.length ?? Math.max(...tokens.map((row) => row.length));
      const { session, inputs } = length === 1 ? single : several;
      const remembered = run.past ?? nothing(config, rows, target.device === "webgpu" ? 1 : 0);
      const feeds = decoderFeeds(config, tokens, length, remembered, inputs);
      feeds.inverseTemperatures = {
        shape: [rows, 1],
        data: inverseTemperatures ?? new Float32Array(rows).fill(1),
      };
      for (const [name, tensor] of matrices ?? []) feeds[name] = tensor;
      const names = wanted.flatMap((output) =>
        output === "choice" ? ["likeliest", "certainties"] : [output],
      );
      const outputs = await session.run(feeds, [...cacheNames, ...names]);
      const floats = (name: string) => (names.includes(name) ? outputs.floats(name) : empty);
      const likeliest = names.includes("likeliest") ? outputs.tensor("likeliest").data : undefined;
      return {
        length,
        keys: layers.map((layer) => outputs.floats(`keys${layer}`)),
        values: layers.map((layer) => outputs.floats(`values${layer}`)),
        likeliest: likeliest instanceof BigInt64Array ? likeliest : new BigInt64Array(0),
        certainties: floats("certainties"),
        logits: floats("logits"),
        weights: floats("weights"),
      };
    },
    async close() {
      await several.session.close();
      if (single !== several) await single.session.close();
    },
  };
}

interface OpenGraph {
  session: Session;
  inputs: ReadonlySet<string>;
}

/** Small models, whose weights were read, have those of the same input joined. */
function joinedIfRead(config: ModelConfig, { folder, tensors }: WeightSources): WeightSources["tensors"] {
  if (folder !== undefined) return tensors;
  const read = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) if ("data" in tensor) read.set(name, tensor);
  return joinWeights(config, read);
}

/** Nothing remembered: on WebGPU, which takes no empty tensors, one position that no row uses. */
function nothing(config: ModelConfig, rows: number, capacity: number): Past {
  const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim: size } = config;
  const arrays = () => Array.from({ length: layers }, () => new Float32Array(rows * heads * capacity * size));
  return { keys: arrays(), values: arrays(), capacity, lengths: Array.from({ length: rows }, () => 0) };
}
