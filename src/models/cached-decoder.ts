import { modelBytes } from "../onnx/model-bytes.ts";
import { createSession } from "../onnx/session.ts";
import type { Target } from "../onnx/target.ts";
import { cachedDecoderGraph } from "./cached-decoder-graph.ts";
import type { ModelConfig } from "./model-config.ts";
import { checkModelWeights } from "./model-weights.ts";
import type { Tensor } from "./safetensors.ts";

/** Keys (rotated) and values, one array a layer, each [rows, key-value heads, positions, head size]. */
export type KeyValues = { keys: Float32Array[]; values: Float32Array[] };

/** What the rows have seen already: room for `capacity` positions each, of which row i uses the first lengths[i]. */
type Past = KeyValues & { capacity: number; lengths: readonly number[] };

/** Logits after the last token of each row, [rows, vocabulary]; keys and values of the new tokens, padded to `length`. */
type CachedOutput = KeyValues & { logits: Float32Array; length: number };

/** A decoder that reads new tokens after remembered ones. */
export type CachedDecoder = {
  layers: number;
  keyValueHeads: number;
  headSize: number;
  vocabularySize: number;
  /** Reads the new tokens of each row (at least one), which come after those in `past`. Copies nothing of it. */
  run(tokens: readonly (readonly number[])[], past?: Past): Promise<CachedOutput>;
  close(): Promise<void>;
};

/**
 * Prepares a decoding model that uses `threads` threads. The weights are constants of the graph, which ONNX
 * Runtime packs once; its packed products give a row the same numbers whatever the other rows are, and padding
 * adds exact zeros, so that a sequence doesn't depend on its batch. Throws MODEL_WEIGHTS_MISMATCH.
 */
export async function createCachedDecoder(
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor>,
  threads: number,
  target: Target = {},
): Promise<CachedDecoder> {
  checkModelWeights(config, weights);
  const { num_hidden_layers: layers, num_key_value_heads: keyValueHeads, head_dim: headSize } = config;
  const model = modelBytes(cachedDecoderGraph(config, weights), target);
  const session = await createSession(model, { threads, device: target.device ?? "cpu" });
  const layerNumbers = Array.from({ length: layers }, (_, layer) => layer);
  /** Nothing remembered: on WebGPU, which takes no empty tensors, one position that no row uses. */
  const nothing = (rows: number): Past => {
    const capacity = target.device === "webgpu" ? 1 : 0;
    const empty = layerNumbers.map(() => new Float32Array(rows * keyValueHeads * capacity * headSize));
    return { keys: empty, values: empty, capacity, lengths: Array.from({ length: rows }, () => 0) };
  };

  return {
    layers,
    keyValueHeads,
    headSize,
    vocabularySize: config.vocab_size,
    async run(tokens, past = nothing(tokens.length)) {
      const rows = tokens.length;
      const length = Math.max(...tokens.map((row) => row.length));
      const pastShape = [rows, keyValueHeads, past.capacity, headSize];
      const feeds = {
        ...inputsOf(tokens, length, past),
        ...Object.fromEntries(
          past.keys.map((data, layer) => [`pastKeys${layer}`, { shape: pastShape, data }]),
        ),
        ...Object.fromEntries(
          past.values.map((data, layer) => [`pastValues${layer}`, { shape: pastShape, data }]),
        ),
      };
      const outputs = await session.run(feeds);
      return {
        logits: outputs.floats("logits"),
        keys: layerNumbers.map((layer) => outputs.floats(`keys${layer}`)),
        values: layerNumbers.map((layer) => outputs.floats(`values${layer}`)),
        length,
      };
    },
    close: () => session.close(),
  };
}

function inputsOf(tokens: readonly (readonly number[])[], length: number, past: Past) {
  const rows = tokens.length;
  const ids = new BigInt64Array(rows * length);
  const positions = new BigInt64Array(rows * length);
  const last = new BigInt64Array(rows);
  const pastMask = new Float32Array(rows * past.capacity);
  tokens.forEach((row, index) => {
    const seen = past.lengths[index]!;
    row.forEach((token, at) => {
      ids[index * length + at] = BigInt(token);
      positions[index * length + at] = BigInt(seen + at);
    });
    last[index] = BigInt(index * length + row.length - 1);
    pastMask.fill(Number.NEGATIVE_INFINITY, index * past.capacity + seen, (index + 1) * past.capacity);
  });
  const newMask = new Float32Array(length * length);
  for (let at = 0; at < length; at++) {
    newMask.fill(Number.NEGATIVE_INFINITY, at * length + at + 1, (at + 1) * length);
  }
  return {
    tokens: { shape: [rows, length], data: ids },
    positions: { shape: [rows, length], data: positions },
    last: { shape: [rows], data: last },
    pastMask: { shape: [rows, 1, 1, past.capacity], data: pastMask },
    newMask: { shape: [length, length], data: newMask },
  };
}
