import { createBoundSession } from "../onnx/bound-session.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { createBlockRunner } from "./block-runner.ts";
import type { CachedDecoder, DecoderOptions, NextTokens } from "./cached-decoder.ts";
import { inPlaceDecoderGraph } from "./in-place-decoder-graph.ts";
import type { ModelConfig } from "./model-config.ts";
import { createTemperedWeights, type TemperedWeights } from "./tempered-weights.ts";
import type { WeightSources } from "./weight-sources.ts";

/** Products that a score is a sum of, at most, for the runtime to add them in one order whatever the other sizes are. */
const longestSum = 128;

/**
 * A decoder for float32 on the CPU, whose attention writes keys and values into the memory that they are kept in:
 * nothing is copied, and a step costs little more than its arithmetic.
 */
export async function createInPlaceDecoder(
  config: ModelConfig,
  { folder, tensors }: WeightSources,
  { threads, adapter }: DecoderOptions,
): Promise<CachedDecoder> {
  const session = await createBoundSession(modelBytes(inPlaceDecoderGraph(config, tensors, adapter)), {
    threads,
    ...(folder !== undefined && { weightsFolder: folder }),
  });
  const reading = createBlockRunner(session.bindings(), config);
  const decoding = createBlockRunner(session.bindings(), config);
  const { vocab_size: vocabulary } = config;
  let certainties = new Float32Array();
  let tempered: TemperedWeights | undefined;
  return {
    config,
    capacityStep: 64,
    isSplitInvariant: config.head_dim <= longestSum,
    async run({ tokens, past, inverseTemperatures, ...run }): Promise<NextTokens> {
      const length = run.length ?? Math.max(...tokens.map((row) => row.length));
      const block = { tokens, past, length, adapter: run.adapter };
      // The operator reads several new tokens of several rows only where nothing came before.
      const isRowByRow = length > 1 && past.lengths.some((seen) => seen > 0);
      const runner = length === 1 ? decoding : reading;
      const { rows, likeliest, logits, probabilities } = runner.run(block, isRowByRow);
      if (certainties.length < rows) certainties = new Float32Array(rows);
      for (let row = 0; row < tokens.length; row++) {
        certainties[row] = probabilities[row * vocabulary + Number(likeliest[row])]!;
      }
      if (!inverseTemperatures?.some((factor) => factor !== 1)) {
        return { likeliest, certainties, logits, weights: probabilities };
      }
      tempered ??= await createTemperedWeights(vocabulary, threads);
      return { likeliest, certainties, logits, weights: tempered.of(logits, inverseTemperatures) };
    },
    async close() {
      tempered?.close();
      session.close();
    },
  };
}
