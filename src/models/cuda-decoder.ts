import { createBoundSession } from "../onnx/bound-session.ts";
import type { CudaMemory, HalfType } from "../onnx/cuda-memory.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { RuntimeFunctions } from "../onnx/runtime-functions.ts";
import type { CachedDecoder, DecoderOptions } from "./cached-decoder.ts";
import { type CudaBlockRunner, createCudaBlockRunner } from "./cuda-block-runner.ts";
import { cudaDecoderGraph } from "./cuda-decoder-graph.ts";
import { cardMemory } from "./key-value-memory.ts";
import type { ModelConfig } from "./model-config.ts";
import type { WeightSources } from "./weight-sources.ts";

/**
 * A decoder of half precision on an NVIDIA card, whose memory has the weights, and keys and values: the new ones are
 * written there by attention itself. A step fetches only what is wanted of its rows.
 */
export async function createCudaDecoder(
  runtime: RuntimeFunctions,
  config: ModelConfig,
  { folder, ...weights }: WeightSources,
  { threads, adapter, activations = "float32", precision }: DecoderOptions & { precision: HalfType },
  card: CudaMemory,
): Promise<CachedDecoder> {
  const graph = cudaDecoderGraph(config, { ...weights, activations }, precision, adapter);
  const session = createBoundSession(runtime, modelBytes(graph, { device: "cuda", precision }), {
    threads,
    device: "cuda",
    ...(folder !== undefined && { weightsFolder: folder }),
  });
  const keyValues = cardMemory(card, precision);
  const runners = new Map<string, CudaBlockRunner>();

  return {
    config,
    capacityStep: 64,
    isSplitInvariant: false,
    isSparse: false,
    reads: { ofPrompt: 2048, atOnce: 8192, scores: Number.POSITIVE_INFINITY },
    keyValues,
    async run({ tokens, past, adapter: matrices, inverseTemperatures, wanted = ["logits"], ...run }) {
      const length = run.length ?? Math.max(...tokens.map((row) => row.length));
      const key = wanted.toSorted().join();
      const runner = runners.get(key) ?? createCudaBlockRunner(session.bindings(), config, wanted);
      runners.set(key, runner);
      // The operator reads several new tokens of several rows only where nothing came before.
      const isRowByRow = length > 1 && past.lengths.some((seen) => seen > 0);
      card.settle();
      return runner.run({ tokens, past, length, adapter: matrices }, inverseTemperatures, isRowByRow);
    },
    async close() {
      session.close();
      keyValues.close();
    },
  };
}
