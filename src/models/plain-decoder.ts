import { createBoundSession } from "../onnx/bound-session.ts";
import { createSession } from "../onnx/create-session.ts";
import { cudaMemory } from "../onnx/cuda-memory.ts";
import { fedBindings } from "../onnx/fed-bindings.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { type RuntimeFunctions, runtimeFunctions } from "../onnx/runtime-functions.ts";
import type { Target } from "../onnx/target.ts";
import { createWebgpuMemory } from "../onnx/webgpu-memory.ts";
import { createBoundDecoder } from "./bound-decoder.ts";
import type { CachedDecoder, DecoderOptions } from "./cached-decoder.ts";
import { cardMemory, type KeyValueMemory, processorMemory } from "./key-value-memory.ts";
import type { ModelConfig } from "./model-config.ts";
import { plainDecoderFeeds } from "./plain-decoder-feeds.ts";
import { plainDecoderGraph } from "./plain-decoder-graph.ts";
import { cardReadLimits, readLimits } from "./read-length.ts";
import type { WeightSources } from "./weight-sources.ts";

/**
 * A decoder for any model, device and precision, with attention in plain operators and keys and values of float32 that stay in the device's
 * memory. Where the runtime's C API can't be called, they are fed at each run. Throws DEVICE_UNAVAILABLE.
 */
export async function createPlainDecoder(
  config: ModelConfig,
  { folder, ...weights }: WeightSources,
  { threads, target = {}, adapter, activations = "float32" }: DecoderOptions,
): Promise<CachedDecoder> {
  const device = target.device ?? "cpu";
  const runtime = await runtimeFunctions();
  const memory = runtime ? await memoryOf(device, runtime) : ofProcessor();
  const graph = plainDecoderGraph(config, { ...weights, activations }, adapter);
  const inputs = new Set(graph.inputs.map(({ name }) => name));
  const options = { threads, device, ...(folder !== undefined && { weightsFolder: folder }) };
  const session = runtime
    ? createBoundSession(runtime, modelBytes(graph, target), options)
    : await createSession(modelBytes(graph, target), options);
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

/** Where keys and values are kept. */
interface DecoderMemory {
  readonly keyValues: KeyValueMemory;
  /** Waits for copies that were asked for. */
  readonly settle?: () => void;
  close(): void;
}

function ofProcessor(): DecoderMemory {
  return { keyValues: processorMemory("float32"), close() {} };
}

async function memoryOf(
  device: Required<Target>["device"],
  runtime: RuntimeFunctions,
): Promise<DecoderMemory> {
  if (device === "cpu") return ofProcessor();
  if (device === "cuda") {
    const card = await cudaMemory();
    const keyValues = cardMemory(card, "float32");
    return { keyValues, settle: card.settle, close: keyValues.close };
  }
  const card = createWebgpuMemory(runtime);
  const keyValues = cardMemory(card, "float32");
  return {
    keyValues,
    close() {
      keyValues.close();
      card.close();
    },
  };
}
