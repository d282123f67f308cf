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
import type { PreprocessedImage } from "../../src/engine/vision/preprocessed-image.ts";
import { encodedTiles } from "../../src/engine/vision/tile-encoder.ts";
import { relativeError, withPrefix } from "../unit/torch-fixtures.ts";
import { placedSequences } from "./compared.ts";
import { languageTensors, type VisionFixture } from "./vision-fixtures.ts";

/**
 * The largest relative error of the gradients of the encoder and the connector: the language part gives the gradients of
 * the embeddings, and the encoder passes them on for each image. No trainer does this, because the vision part is
 * frozen.
 */
export async function visionGradientsError(fixture: VisionFixture): Promise<number> {
  const { config, tensors, images } = fixture;
  const ofEmbeddings = await embeddingGradients(fixture);
  const sums = new Map<string, Float32Array>();
  for (const [number, image] of images.entries()) {
    const upstream = ofEmbeddings[number]!;
    for (const [name, values] of await encoderGradients(fixture, image, upstream)) {
      const sum = sums.get(name);
      sums.set(name, sum ? sum.map((value, at) => value + values[at]!) : values);
    }
  }
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

async function encoderGradients(
  { config, vision, tensors }: VisionFixture,
  image: PreprocessedImage,
  upstream: Float32Array,
): Promise<[string, Float32Array][]> {
  const graph = createGraph();
  const shapes = visionWeightShapes(config);
  const weights = weightInputs(graph, shapes);
  const weight = (name: string) => weights.get(name)!;
  if (vision.model_type === "qwen2_5_vl" || image.kind === "patches")
    throw new Error("the joined squares of Qwen's encoder have no gradient");
  const { pixels, tokens, tiles, height, width } = image;
  const features = encodedTiles(graph, config, vision, { height, width }, weight);
  const loss = reduceSum(mul(features, graph.input("upstream", "float32", features.shape)));
  const names = [...shapes.keys()];
  gradients(
    loss,
    names.map((name) => weight(name)),
  ).forEach((gradient, at) => {
    graph.output(`gradient/${names[at]}`, gradient);
  });
  const session = await createModelSession(modelBytes(graph), { threads: 1 });
  const outputs = await session.run({
    ...Object.fromEntries(names.map((name) => [name, tensors.get(name)!])),
    pixels: { shape: [tiles, 3, height, width], data: pixels },
    upstream: { shape: [tokens, config.hidden_size], data: upstream },
  });
  const found = names.map((name): [string, Float32Array] => [
    name,
    outputs.floats(`gradient/${name}`).slice(),
  ]);
  await session.close();
  return found;
}
