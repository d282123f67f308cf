import { defined } from "../../../../base/records/defined.ts";
import { type Bindings, createBoundSessionAside } from "../../../onnx/bound-session.ts";
import { elementCount } from "../../../onnx/element-count.ts";
import type { Graph } from "../../../onnx/graph.ts";
import { modelBytes } from "../../../onnx/model-bytes.ts";
import { closedError } from "../../../onnx/pass-error.ts";
import type { QuantizedMatrix } from "../../../onnx/quantized-matrix.ts";
import type { RuntimeFunctions } from "../../../onnx/runtime-functions.ts";
import { createUsage } from "../../../onnx/usage.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import type { Tensor } from "../../weights/safetensors.ts";
import type { WeightSources } from "../../weights/weight-sources.ts";
import { isWidened, widensForBlocks } from "../../weights/widened-blocks.ts";
import { type BlockRunner, createBlockRunner } from "../block-runner.ts";
import type { CachedDecoder, DecoderOptions, DecoderPass, NextTokens, Past } from "../cached-decoder.ts";
import { type AdapterShape, type DecodedWeights, decodedWeights } from "../decoding-model.ts";
import { indexOfLargest } from "../index-of-largest.ts";
import { processorMemory } from "../key-value-memory.ts";
import { firstScales, type KeyValueScales, measuredTokens, measureScales } from "../key-value-scales.ts";
import { type KeyValueType, keyValueArray } from "../key-values.ts";
import { readLimits } from "../read-length.ts";
import { createTemperedWeights, type TemperedWeights } from "../tempered-weights.ts";
import { inPlaceDecoderGraph } from "./in-place-decoder-graph.ts";

/** The most products summed in a score for which the runtime adds them in one order regardless of other sizes. */
const longestSum = 128;

/**
 * Creates a decoder for float32 on the CPU whose attention writes keys and values directly into their memory. Nothing
 * is copied, and a step costs little more than its arithmetic. With `roundedBy`, they are kept as int8.
 */
export async function createInPlaceDecoder(
  runtime: RuntimeFunctions,
  config: ModelConfig,
  sources: WeightSources,
  { threads, adapter, activations, roundedBy }: DecoderOptions,
): Promise<CachedDecoder> {
  const keyValues = roundedBy ? "int8" : "float32";
  const weights = await decodedWeights(sources, activations);
  const open = (model: Graph) =>
    createBoundSessionAside(
      runtime,
      modelBytes(model),
      defined({
        threads,
        weightsFolder: sources.folder,
      }),
    );
  const session = await open(inPlaceDecoderGraph(config, weights, adapter, keyValues));
  const forBlocks = widensForBlocks(config, sources.folder, activations)
    ? await open(blocksGraph(config, weights, threads, adapter, keyValues))
    : undefined;
  let scales = roundedBy && firstScales(config);
  const openRunner = (of = session) => {
    const bindings = of.bindings();
    if (scales) bindScales(bindings, config, scales);
    return createBlockRunner(bindings, config, of === forBlocks ? 0 : config.vocab_size);
  };
  if (scales && roundedBy)
    await measure(openRunner(), config, scales, measuredTokens(config, roundedBy), adapter);
  const reading = openRunner();
  const readingBlocks = forBlocks && openRunner(forBlocks);
  const decoding = openRunner();
  const { vocab_size: vocabulary } = config;
  const isSplitInvariant = config.head_dim <= longestSum;
  let tempered: TemperedWeights | undefined;

  const usage = createUsage(closedError);
  const run = async (request: DecoderPass): Promise<NextTokens> => {
    const { tokens, past, inverseTemperatures } = request;
    const length = request.length ?? Math.max(...tokens.map((row) => row.length));
    // The operator reads several new tokens of several rows only at the start of their sequences.
    const isRowByRow = length > 1 && past.lengths.some((seen) => seen > 0);
    const ofBlocks = request.isWhole ? readingBlocks : undefined;
    const runner = ofBlocks ?? (length === 1 ? decoding : reading);
    const { adapter: matrices, embeddings } = request;
    const block = { tokens, past, length, adapter: matrices, embeddings };
    const { logits, probabilities, ties } = await runner.run(block, isRowByRow);
    const choice = (row: number) => {
      const token = indexOfLargest(logits, row * vocabulary, vocabulary);
      return { token, probability: probabilities[row * vocabulary + token]! };
    };
    if (ofBlocks || !inverseTemperatures?.some((factor) => factor !== 1)) {
      return { choice, logits, weights: probabilities, ties };
    }
    tempered ??= createTemperedWeights(runtime, vocabulary, threads);
    return { choice, logits, weights: tempered.of(logits, inverseTemperatures), ties };
  };

  return {
    config,
    // 64 positions of small rounded heads would take less than a page of memory.
    capacityStep: roundedBy ? 64 * Math.ceil(64 / config.head_dim) : 64,
    rowStep: 1,
    isSplitInvariant,
    readsBlocksApart: forBlocks !== undefined,
    isSparse: true,
    reads: readLimits(isSplitInvariant),
    keyValues: processorMemory(keyValues, runtime.memoryAdvice),
    run: (request) => usage.during(() => run(request)),
    close: () =>
      usage.end(() => {
        tempered?.close();
        session.close();
        forBlocks?.close();
        scales = undefined; // bound until here
      }),
  };
}

/** Builds the decoding graph for whole blocks of prompts. It computes only keys and values. */
function blocksGraph(
  config: ModelConfig,
  weights: DecodedWeights,
  threads: number,
  adapter: AdapterShape | undefined,
  keyValues: KeyValueType,
): Graph {
  const widened = (matrix: QuantizedMatrix) => isWidened(matrix, threads);
  return inPlaceDecoderGraph(config, { ...weights, widened }, adapter, keyValues, () => {});
}

/** Binds scales for all passes. */
function bindScales(bindings: Bindings, config: ModelConfig, { keys, values }: KeyValueScales): void {
  const shape = [config.num_key_value_heads, config.head_dim];
  keys.forEach((data, layer) => {
    bindings.bindInput(`keyScales${layer}`, { shape, data });
    bindings.bindInput(`valueScales${layer}`, { shape, data: values[layer]! });
  });
}

/** Measures the scales bound to a runner by reading tokens with an adapter that changes nothing. */
async function measure(
  runner: BlockRunner,
  config: ModelConfig,
  scales: KeyValueScales,
  tokens: readonly number[],
  adapter?: AdapterShape,
): Promise<void> {
  const { length } = tokens;
  const zeros = [...(adapter?.shapes ?? [])].map(([name, shape]): [string, Tensor] => [
    name,
    { shape: [...shape], data: new Float32Array(elementCount(shape)) },
  ]);
  const arrays = () => scales.keys.map(({ length: channels }) => keyValueArray("int8", channels * length));
  const past: Past = { keys: arrays(), values: arrays(), capacity: length, lengths: [0] };
  const block = { tokens: [tokens], past, length, adapter: new Map(zeros) };
  await measureScales(config, scales, length, async () => {
    await runner.run(block, false);
    return past;
  });
}
