import { defined } from "../../../../base/records/defined.ts";
import { createBoundSession } from "../../../onnx/bound-session.ts";
import { modelBytes } from "../../../onnx/model-bytes.ts";
import type { RuntimeFunctions } from "../../../onnx/runtime-functions.ts";
import type { BoundTensor } from "../../../onnx/runtime-session.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import { nextTokenOutputs } from "../../graph/next-token.ts";
import type { WeightSources } from "../../weights/weight-sources.ts";
import type { Block } from "../block-runner.ts";
import { createBoundDecoder } from "../bound-decoder.ts";
import type { CachedDecoder, DecoderOptions } from "../cached-decoder.ts";
import { inPlaceDecoderGraph } from "../cpu/in-place-decoder-graph.ts";
import { ofWebgpu } from "../decoder-memory.ts";
import { decodedWeights } from "../decoding-model.ts";
import { cardReadLimits } from "../read-length.ts";

/**
 * Creates a decoder on WebGPU's card. Weights and float32 keys and values are in its memory, and the runtime's
 * attention operator writes the new ones there. A pass sends a few numbers per row, and fetches the requested outputs.
 */
export async function createWebgpuDecoder(
  runtime: RuntimeFunctions,
  config: ModelConfig,
  sources: WeightSources,
  { threads, target = {}, adapter }: DecoderOptions,
): Promise<CachedDecoder> {
  const { folder } = sources;
  const weights = await decodedWeights(sources, "float32", "webgpu");
  const graph = inPlaceDecoderGraph(config, weights, adapter, "float32", nextTokenOutputs);
  const memory = ofWebgpu(runtime);
  const session = createBoundSession(
    runtime,
    modelBytes(graph, target),
    defined({
      threads,
      device: "webgpu",
      weightsFolder: folder,
    }),
  );
  return createBoundDecoder({
    config,
    bindings: session.bindings,
    keyValues: memory.keyValues,
    feeds,
    readsRowByRow: true,
    capacityStep: 64,
    reads: cardReadLimits,
    async close() {
      memory.close();
      session.close();
    },
  });
}

function feeds({ tokens, past, length }: Block): Record<string, BoundTensor> {
  const rows = tokens.length;
  const padded = tokens.flatMap((row) => Array.from({ length }, (_, at) => row[at] ?? 0));
  const total = Math.max(...past.lengths) + length;
  return {
    tokens: { shape: [rows, length], data: Int32Array.from(padded) },
    last: { shape: [rows, 1], data: BigInt64Array.from(tokens, (row) => BigInt(row.length - 1)) },
    lastPositions: { shape: [rows], data: Int32Array.from(past.lengths, (seen) => seen + length - 1) },
    total: { shape: [1], data: Int32Array.of(total) },
  };
}
