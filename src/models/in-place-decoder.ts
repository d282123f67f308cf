import { createBoundSession } from "../onnx/bound-session.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { RuntimeFunctions } from "../onnx/runtime-functions.ts";
import { createBlockRunner } from "./block-runner.ts";
import type { CachedDecoder, DecoderOptions, DecoderRun, NextTokens } from "./cached-decoder.ts";
import { inPlaceDecoderGraph } from "./in-place-decoder-graph.ts";
import { indexOfLargest } from "./index-of-largest.ts";
import type { ModelConfig } from "./model-config.ts";
import { createTemperedWeights, type TemperedWeights } from "./tempered-weights.ts";
import type { WeightSources } from "./weight-sources.ts";

/** Products that a score is a sum of, at most, for the runtime to add them in one order whatever the other sizes are. */
const longestSum = 128;

/**
 * A decoder for float32 on the CPU, whose attention writes keys and values into the memory that they are kept in:
 * nothing is copied, and a step costs little more than its arithmetic.
 */
export function createInPlaceDecoder(
  runtime: RuntimeFunctions,
  config: ModelConfig,
  { folder, ...weights }: WeightSources,
  { threads, adapter, activations = "float32" }: DecoderOptions,
): CachedDecoder {
  const graph = inPlaceDecoderGraph(config, { ...weights, activations }, adapter);
  const session = createBoundSession(runtime, modelBytes(graph), {
    threads,
    ...(folder !== undefined && { weightsFolder: folder }),
  });
  const reading = createBlockRunner(session.bindings(), config);
  const decoding = createBlockRunner(session.bindings(), config);
  const { vocab_size: vocabulary } = config;
  let tempered: TemperedWeights | undefined;

  const run = (request: DecoderRun): NextTokens => {
    const { tokens, past, inverseTemperatures } = request;
    const length = request.length ?? Math.max(...tokens.map((row) => row.length));
    // The operator reads several new tokens of several rows only where nothing came before.
    const isRowByRow = length > 1 && past.lengths.some((seen) => seen > 0);
    const runner = length === 1 ? decoding : reading;
    const block = { tokens, past, length, adapter: request.adapter };
    const { logits, probabilities } = runner.run(block, isRowByRow);
    const choice = (row: number) => {
      const token = indexOfLargest(logits, row * vocabulary, vocabulary);
      return { token, probability: probabilities[row * vocabulary + token]! };
    };
    if (!inverseTemperatures?.some((factor) => factor !== 1)) {
      return { choice, logits, weights: probabilities };
    }
    tempered ??= createTemperedWeights(runtime, vocabulary, threads);
    return { choice, logits, weights: tempered.of(logits, inverseTemperatures) };
  };

  return {
    config,
    capacityStep: 64,
    isSplitInvariant: config.head_dim <= longestSum,
    isSparse: true,
    allocate(length) {
      const array = new Float32Array(length);
      runtime.makeSparse(array);
      return array;
    },
    run: async (request) => run(request),
    async close() {
      tempered?.close();
      session.close();
    },
  };
}
