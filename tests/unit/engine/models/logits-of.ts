import { batchFeeds, batchSequences, type TokenSequence } from "../../../../src/engine/learning/batch.ts";
import type { ModelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { decoderForward } from "../../../../src/engine/models/graph/decoder.ts";
import { languageModelHead } from "../../../../src/engine/models/graph/decoder-blocks.ts";
import { decoderInputs } from "../../../../src/engine/models/graph/decoder-inputs.ts";
import { rotaryTables } from "../../../../src/engine/models/graph/rotary-tables.ts";
import { modelWeightShapes, weightInputs } from "../../../../src/engine/models/weights/model-weights.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";

/** Logits of every token of sequences that share a batch, one after the other. */
export async function logitsOf(
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor>,
  sequences: TokenSequence[],
) {
  const graph = createGraph();
  const model = {
    config,
    weights: weightInputs(graph, modelWeightShapes(config)),
    tables: rotaryTables(graph, config),
  };
  graph.output("logits", languageModelHead(model, decoderForward(model, decoderInputs(graph, config))));
  const session = await createModelSession(modelBytes(graph), { threads: 1 });
  // With a token more at the end, which carries loss, a batch keeps all the others, and predicts after each.
  const whole = sequences.map(({ tokens, ...sequence }) => ({
    ...sequence,
    tokens: [...tokens, 0],
    mask: [0, ...tokens.map(() => 1)],
  }));
  const {
    targets: _,
    inverseTemperature: _temperature,
    ...feeds
  } = batchFeeds(batchSequences(whole, config));
  const named = [...modelWeightShapes(config).keys()].map((name) => [name, weights.get(name)!]);
  const outputs = await session.run({ ...Object.fromEntries(named), ...feeds });
  await session.close();
  return outputs.floats("logits");
}
