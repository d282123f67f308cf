import { batchFeeds, batchSequences } from "../../src/engine/learning/batch.ts";
import { decoderForward } from "../../src/engine/models/graph/decoder.ts";
import { languageModelHead } from "../../src/engine/models/graph/decoder-blocks.ts";
import { decoderInputs } from "../../src/engine/models/graph/decoder-inputs.ts";
import { rotaryTables } from "../../src/engine/models/graph/rotary-tables.ts";
import { modelWeightShapes, weightInputs } from "../../src/engine/models/weights/model-weights.ts";
import { visionWeightShapes } from "../../src/engine/models/weights/vision-weights.ts";
import { createModelSession } from "../../src/engine/onnx/create-model-session.ts";
import { mul } from "../../src/engine/onnx/elementwise.ts";
import { gradients } from "../../src/engine/onnx/gradients.ts";
import { createGraph } from "../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../src/engine/onnx/model-bytes.ts";
import { reduceSum } from "../../src/engine/onnx/reductions.ts";
import { tokenDistribution } from "../../src/engine/onnx/token-distribution.ts";
import { createTrainedEncoder } from "../../src/engine/vision/trained-encoder.ts";
import { relativeError, withPrefix } from "../unit/torch-fixtures.ts";
import { placedSequences } from "./compared.ts";
import { languageTensors, type VisionFixture } from "./vision-fixtures.ts";

/**
 * The largest relative error of the gradients of the encoder and the connector: the language part gives the gradients of
 * the embeddings, and the encoder passes them on for each image.
 */
export async function visionGradientsError(fixture: VisionFixture): Promise<number> {
  const { config, vision, tensors, images } = fixture;
  const ofEmbeddings = await embeddingGradients(fixture);
  const encoder = createTrainedEncoder(config, vision, () => tensors, 1);
  const sums = new Map<string, Float32Array>();
  for (const [number, image] of images.entries()) {
    for await (const passed of encoder.gradients(image, ofEmbeddings[number]!)) {
      for (const [name, values] of passed.gradients) {
        const sum = sums.get(name);
        sums.set(name, sum ? sum.map((value, at) => value + values[at]!) : values.slice());
      }
      passed.release();
    }
  }
  await encoder.close();
  const expected = withPrefix(tensors, "gradient.");
  const zero = /k_proj\.bias$/; // softmax doesn't see what all scores of a query share
  const names = [...visionWeightShapes(config).keys()].filter((name) => !zero.test(name));
  return Math.max(...names.map((name) => relativeError(sums.get(name)!, expected.get(name)!.data)));
}

/** The gradients of the mean cross entropy by each image's embeddings. */
async function embeddingGradients(fixture: VisionFixture): Promise<Float32Array[]> {
  const { config, images } = fixture;
  const sequences = await placedSequences(fixture);
  const graph = createGraph();
  const weights = weightInputs(graph, modelWeightShapes(config));
  const model = { config, weights, tables: rotaryTables(graph, config) };
  const inputs = decoderInputs(graph, config);
  const logits = languageModelHead(model, decoderForward(model, inputs));
  const targets = graph.input("targets", "int64", ["actions"]);
  const { logProbabilities } = tokenDistribution(logits, targets);
  const loss = reduceSum(mul(logProbabilities, graph.input("weights", "float32", ["actions"])));
  graph.output("gradient", gradients(loss, [inputs.images!.embeddings])[0]!);
  const session = await createModelSession(modelBytes(graph), { threads: 1 });
  const { inverseTemperature: _, ...feeds } = batchFeeds(batchSequences(sequences, config));
  const count = feeds.targets!.shape[0]!;
  const outputs = await session.run({
    ...Object.fromEntries(languageTensors(fixture)),
    ...feeds,
    weights: { shape: [count], data: new Float32Array(count).fill(-1 / count) },
  });
  // Rows are in the order of their first appearance: all tokens of the first image, then of the second.
  const rows = outputs.floats("gradient").slice();
  await session.close();
  let start = 0;
  return images.map(({ tokens }) => {
    const end = start + tokens * config.hidden_size;
    const own = rows.slice(start, end);
    start = end;
    return own;
  });
}
