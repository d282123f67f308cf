import type { ModelConfig } from "../models/config/model-config.ts";
import type { VisionConfig } from "../models/config/vision-config.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { visionWeightShapes } from "../models/weights/vision-weights.ts";
import { createGraph, type Graph } from "../onnx/graph.ts";
import type { LendingSession } from "../onnx/lending-session.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { openLendingSession } from "../onnx/open-lending-session.ts";
import { buildGradients, gradientOf, weightsIn } from "./encoder-gradients.ts";
import { imagePasses } from "./image-passes.ts";
import { keptSessions } from "./kept-sessions.ts";
import { encodedImage, type ImageEncoder } from "./open-image-encoder.ts";
import type { PreprocessedImage } from "./preprocessed-image.ts";

/** Gradients of the weights from one pass over an image, by weight. */
export interface PassedGradients {
  gradients: ReadonlyMap<string, Float32Array>;
  /** Frees the memory of gradients that were not written to a destination. */
  release(): void;
}

/** An encoder whose weights change. */
export interface TrainedEncoder extends ImageEncoder {
  /**
   * Yields the gradients of all weights, one pass over an image after the other, from those of its embeddings [tokens,
   * hidden size]. The first pass writes them to the destinations in `into`, by weight. Throws the errors of `encode`.
   */
  gradients(
    image: PreprocessedImage,
    ofEmbeddings: Float32Array,
    into?: ReadonlyMap<string, Float32Array>,
  ): AsyncGenerator<PassedGradients>;
}

/** Creates an encoder on the CPU that reads its weights anew for each pass. */
export function createTrainedEncoder(
  config: ModelConfig,
  vision: VisionConfig,
  weights: () => ReadonlyMap<string, Tensor>,
  threads: number,
): TrainedEncoder {
  const shapes = visionWeightShapes(config);
  const names = [...shapes.keys()];
  const width = config.hidden_size;
  const sessions = keptSessions<LendingSession>();
  const fed = () => Object.fromEntries(names.map((name) => [name, weights().get(name)!]));

  const sessionFor = (key: string, build: (graph: Graph) => void) =>
    sessions.get(key, () => {
      const graph = createGraph();
      build(graph);
      return openLendingSession(graph, modelBytes(graph), { threads });
    });

  return {
    async encode(image) {
      const passes = imagePasses(config, vision, image);
      const session = await sessionFor(passes.key, (graph) => {
        graph.output("features", passes.build(graph, weightsIn(graph, shapes)));
      });
      return encodedImage(config, passes, (feeds) => session.run({ ...feeds, ...fed() }));
    },
    async *gradients(image, ofEmbeddings, into) {
      const passes = imagePasses(config, vision, image);
      const session = await sessionFor(`${passes.key} gradients`, (graph) =>
        buildGradients(graph, passes, shapes),
      );
      let destinations = new Map(Array.from(into ?? [], ([name, data]) => [gradientOf(name), data]));
      let at = 0;
      for (const { feeds, tokens } of passes.passes) {
        const upstream = { shape: [tokens, width], data: ofEmbeddings.subarray(at, at + tokens * width) };
        const outputs = await session.run({ ...feeds, upstream, ...fed() }, destinations);
        destinations = new Map();
        at += tokens * width;
        const { release } = outputs;
        yield { gradients: new Map(names.map((name) => [name, outputs.floats(gradientOf(name))])), release };
      }
    },
    close: sessions.close,
  };
}
