import { createSession } from "../onnx/create-session.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { CachedDecoder, DecoderOptions } from "./cached-decoder.ts";
import { cachedDecoderGraph } from "./cached-decoder-graph.ts";
import { copyPositions } from "./copy-positions.ts";
import { decoderFeeds } from "./decoder-feeds.ts";
import { processorMemory } from "./key-value-memory.ts";
import type { ModelConfig } from "./model-config.ts";
import { outputsFor } from "./next-token.ts";
import { readLimits } from "./read-length.ts";
import type { WeightSources } from "./weight-sources.ts";

/** A decoder for any device and precision: keys and values are fed at each run, and those of new tokens fetched. */
export async function createFedDecoder(
  config: ModelConfig,
  { folder, ...weights }: WeightSources,
  { threads, target = {}, adapter, activations = "float32" }: DecoderOptions,
): Promise<CachedDecoder> {
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layer);
  const cacheNames = layers.flatMap((layer) => [`keys${layer}`, `values${layer}`]);
  const graph = cachedDecoderGraph(config, { ...weights, activations }, adapter);
  const session = await createSession(modelBytes(graph, target), {
    threads,
    device: target.device ?? "cpu",
    ...(folder !== undefined && { weightsFolder: folder }),
  });
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const empty = new Float32Array(0);
  const keyValues = processorMemory("float32");
  const copied = { heads: config.num_key_value_heads, headSize: config.head_dim, keyValues };

  return {
    config,
    capacityStep: Math.max(64, config.head_dim),
    rowStep: 1,
    isSplitInvariant: false,
    isSparse: false,
    reads: readLimits(false),
    keyValues,
    async run({ tokens, past, adapter: matrices, inverseTemperatures, wanted = ["logits"], ...run }) {
      const rows = tokens.length;
      const length = run.length ?? Math.max(...tokens.map((row) => row.length));
      const feeds = decoderFeeds(config, tokens, length, past, inputs);
      feeds.inverseTemperatures = {
        shape: [rows, 1],
        data: inverseTemperatures ?? new Float32Array(rows).fill(1),
      };
      for (const [name, tensor] of matrices ?? []) feeds[name] = tensor;
      const names = [...new Set(wanted.flatMap((output) => outputsFor[output]))];
      const outputs = await session.run(feeds, [...cacheNames, ...names]);
      const fresh = {
        keys: layers.map((layer) => outputs.floats(`keys${layer}`)),
        values: layers.map((layer) => outputs.floats(`values${layer}`)),
      };
      tokens.forEach(({ length: count }, row) => {
        const from = { ...fresh, capacity: length, row, at: 0 };
        copyPositions(copied, from, { ...past, row, at: past.lengths[row]! }, count);
      });
      const floats = (name: "logits" | "weights") => (names.includes(name) ? outputs.floats(name) : empty);
      return {
        choice: (row) => ({
          token: Number(outputs.tensor("likeliest").data[row]),
          probability: outputs.floats("certainties")[row]!,
        }),
        logits: floats("logits"),
        weights: floats("weights"),
      };
    },
    close: () => session.close(),
  };
}
