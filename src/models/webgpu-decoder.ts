import { createBoundSession } from "../onnx/bound-session.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { RuntimeFunctions } from "../onnx/runtime-functions.ts";
import { createWebgpuMemory } from "../onnx/webgpu-memory.ts";
import type { CachedDecoder, DecoderOptions } from "./cached-decoder.ts";
import { inPlaceDecoderGraph } from "./in-place-decoder-graph.ts";
import { cardMemory } from "./key-value-memory.ts";
import type { ModelConfig } from "./model-config.ts";
import { nextTokenOutputs } from "./next-token.ts";
import { createWebgpuBlockRunner, type WebgpuBlockRunner } from "./webgpu-block-runner.ts";
import type { WeightSources } from "./weight-sources.ts";

/** Whether WebGPU's operator of attention takes a model: heads of a multiple of 16, scores without a cap. */
export function isForWebgpu({ head_dim: size, attn_logit_softcapping: cap }: ModelConfig): boolean {
  return size % 16 === 0 && cap === null;
}

/**
 * A decoder on the card that WebGPU works on, whose memory has the weights, and keys and values of float32: attention writes
 * the new ones there. A run sends a few numbers a row, and fetches what is wanted.
 */
export function createWebgpuDecoder(
  runtime: RuntimeFunctions,
  config: ModelConfig,
  { folder, ...weights }: WeightSources,
  { threads, target = {}, adapter, activations = "float32" }: DecoderOptions,
): CachedDecoder {
  const card = createWebgpuMemory(runtime);
  const graph = inPlaceDecoderGraph(
    config,
    { ...weights, activations },
    adapter,
    "float32",
    nextTokenOutputs,
  );
  const session = createBoundSession(runtime, modelBytes(graph, target), {
    threads,
    device: "webgpu",
    ...(folder !== undefined && { weightsFolder: folder }),
  });
  const keyValues = cardMemory(card, "float32");
  const runners = new Map<string, WebgpuBlockRunner>();

  return {
    config,
    capacityStep: 64,
    rowStep: 1,
    isSplitInvariant: false,
    isSparse: false,
    reads: { ofPrompt: 2048, atOnce: 4096, scores: 2 ** 26 },
    keyValues,
    async run({ tokens, past, adapter, inverseTemperatures, wanted = ["logits"], ...run }) {
      const length = run.length ?? Math.max(...tokens.map((row) => row.length));
      const key = wanted.toSorted().join();
      const runner =
        runners.get(key) ?? createWebgpuBlockRunner(session.bindings(), config, keyValues, wanted);
      runners.set(key, runner);
      // The operator reads several new tokens of several rows only where nothing came before.
      const isRowByRow = length > 1 && past.lengths.some((seen) => seen > 0);
      return runner({ tokens, past, length, adapter, inverseTemperatures }, isRowByRow);
    },
    async close() {
      keyValues.close();
      card.close();
      session.close();
    },
  };
}
