import { defined } from "../../../../base/records/defined.ts";
import { createBoundSessionAside } from "../../../onnx/bound-session.ts";
import { createModelSession } from "../../../onnx/create-model-session.ts";
import { fedBindings } from "../../../onnx/fed-bindings.ts";
import { modelBytes } from "../../../onnx/model-bytes.ts";
import type { ModelSessionOptions } from "../../../onnx/model-session.ts";
import { runtimeFunctions } from "../../../onnx/runtime-functions.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import type { WeightSources } from "../../weights/weight-sources.ts";
import { createBoundDecoder } from "../bound-decoder.ts";
import type { CachedDecoder, DecoderOptions } from "../cached-decoder.ts";
import { decoderMemory, ofProcessor } from "../decoder-memory.ts";
import { decodedWeights } from "../decoding-model.ts";
import { cardReadLimits, readLimits } from "../read-length.ts";
import { plainDecoderFeeds } from "./plain-decoder-feeds.ts";
import { plainDecoderGraph } from "./plain-decoder-graph.ts";

/**
 * Creates a decoder for any model, device and precision, with attention in plain operators and float32 keys and values
 * that stay in the device's memory. If the runtime's C API can't be called, they are fed at each pass. Throws
 * DEVICE_UNAVAILABLE.
 */
export async function createPlainDecoder(
  config: ModelConfig,
  sources: WeightSources,
  { threads, target = {}, adapter, activations }: DecoderOptions,
): Promise<CachedDecoder> {
  const device = target.device ?? "cpu";
  const runtime = await runtimeFunctions();
  const memory = runtime ? await decoderMemory(device, runtime) : ofProcessor();
  const graph = plainDecoderGraph(config, await decodedWeights(sources, activations, device), adapter);
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const options = defined<ModelSessionOptions & { threads: number }>({
    threads,
    device,
    weightsFolder: sources.folder,
  });
  const session = runtime
    ? await createBoundSessionAside(runtime, modelBytes(graph, target), options)
    : await createModelSession(modelBytes(graph, target), options);
  return createBoundDecoder({
    config,
    bindings: () => ("bindings" in session ? session.bindings() : fedBindings(session)),
    keyValues: memory.keyValues,
    settle: memory.settle,
    feeds: (block) => plainDecoderFeeds(config, block, inputs),
    readsRowByRow: false,
    capacityStep: Math.max(64, config.head_dim),
    reads: device === "cpu" ? readLimits(false) : cardReadLimits,
    async close() {
      memory.close();
      await session.close();
    },
  });
}
