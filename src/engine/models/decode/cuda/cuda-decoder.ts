import { defined } from "../../../../base/records/defined.ts";
import { createBoundSession } from "../../../onnx/bound-session.ts";
import type { HalfType } from "../../../onnx/card-memory.ts";
import type { CudaMemory } from "../../../onnx/cuda-memory.ts";
import { modelBytes } from "../../../onnx/model-bytes.ts";
import type { RuntimeFunctions } from "../../../onnx/runtime-functions.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import type { WeightSources } from "../../weights/weight-sources.ts";
import type { CachedDecoder, DecoderOptions } from "../cached-decoder.ts";
import { decodedWeights } from "../decoding-model.ts";
import { cardMemory } from "../key-value-memory.ts";
import { createCudaAdapters } from "./cuda-adapters.ts";
import { type CudaBlockRunner, createCudaBlockRunner } from "./cuda-block-runner.ts";
import { cudaDecoderGraph } from "./cuda-decoder-graph.ts";
import { createCudaRecordings } from "./cuda-recordings.ts";

/**
 * Creates a half-precision decoder on an NVIDIA card. Weights, keys and values are in its memory, and attention itself
 * writes the new ones there. A step fetches only the requested outputs of its rows. Equal steps are recorded as a CUDA
 * graph and then launched as a whole.
 */
export async function createCudaDecoder(
  runtime: RuntimeFunctions,
  config: ModelConfig,
  sources: WeightSources,
  { threads, adapter, precision }: DecoderOptions & { precision: HalfType },
  card: CudaMemory,
): Promise<CachedDecoder> {
  const { folder } = sources;
  const weights = await decodedWeights(sources, "float32", "cuda");
  const graph = cudaDecoderGraph(config, weights, precision, adapter);
  const session = createBoundSession(
    runtime,
    modelBytes(graph, { device: "cuda", precision }),
    defined({
      threads,
      device: "cuda",
      records: true,
      weightsFolder: folder,
    }),
  );
  const keyValues = cardMemory(card, precision);
  const adapters = adapter && createCudaAdapters(card, adapter);
  const shared = { card, config, recordings: createCudaRecordings() };
  const runners = new Map<string, CudaBlockRunner>();

  return {
    config,
    capacityStep: 256,
    rowStep: 8,
    isSplitInvariant: false,
    readsBlocksApart: false,
    isSparse: false,
    reads: { ofPrompt: 2048, atOnce: 8192, scores: Number.POSITIVE_INFINITY },
    keyValues,
    async run({ tokens, past, adapter: matrices, inverseTemperatures, wanted = ["logits"], ...rest }) {
      const length = rest.length ?? Math.max(...tokens.map((row) => row.length));
      const name = [length === 1 ? "step" : "read", ...wanted.toSorted()].join();
      const runner = runners.get(name) ?? createCudaBlockRunner(session.bindings(), shared, name, wanted);
      runners.set(name, runner);
      // The operator reads several new tokens of several rows only at the start of their sequences.
      const isRowByRow = length > 1 && past.lengths.some((seen) => seen > 0);
      const placed = matrices && adapters?.get(matrices);
      return runner.run({ tokens, past, length, adapter: placed, inverseTemperatures }, isRowByRow);
    },
    async close() {
      session.close();
      for (const runner of runners.values()) runner.close();
      adapters?.close();
      keyValues.close();
    },
  };
}
