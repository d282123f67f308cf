import { defined } from "../../base/records/defined.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { VisionConfig } from "../models/config/vision-config.ts";
import { weightConstant } from "../models/weights/stored-constant.ts";
import type { WeightSources } from "../models/weights/weight-sources.ts";
import { createModelSession } from "../onnx/create-model-session.ts";
import { createGraph } from "../onnx/graph.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { ModelSession, Outputs, Tensor } from "../onnx/model-session.ts";
import { type ImagePasses, imagePasses } from "./image-passes.ts";
import { keptSessions } from "./kept-sessions.ts";
import type { PreprocessedImage } from "./preprocessed-image.ts";

/** The encoder and the connector of a vision-language model. */
export interface ImageEncoder {
  /**
   * Returns an image's embeddings, [tokens, hidden size]. Throws IMAGE_NOT_ENCODED for an image that was not prepared
   * for this model, and ONNX_RUN_FAILED.
   */
  encode(image: PreprocessedImage): Promise<Float32Array>;
  /** Frees the model. */
  close(): Promise<void>;
}

/** Creates an encoder from its weights. Models are built at their first use, one for each size of tiles. */
export function createImageEncoder(
  config: ModelConfig,
  vision: VisionConfig,
  { folder: weightsFolder, tensors }: Pick<WeightSources, "folder" | "tensors">,
  { threads = 2 }: { threads?: number } = {},
): ImageEncoder {
  const sessions = keptSessions<ModelSession>();

  const open = ({ build }: ImagePasses) => {
    const graph = createGraph();
    graph.output(
      "features",
      build(graph, (name) => weightConstant(graph, tensors.get(name)!)),
    );
    return createModelSession(modelBytes(graph), defined({ threads, weightsFolder }));
  };

  return {
    async encode(image) {
      const passes = imagePasses(config, vision, image);
      const session = await sessions.get(passes.key, () => open(passes));
      return encodedImage(config, passes, (feeds) => session.run(feeds));
    },
    close: sessions.close,
  };
}

/** Returns an image's embeddings, pass by pass. `run` returns them as `features`. */
export async function encodedImage(
  { hidden_size: width }: Pick<ModelConfig, "hidden_size">,
  { passes }: Pick<ImagePasses, "passes">,
  run: (feeds: Record<string, Tensor>) => Promise<Outputs>,
): Promise<Float32Array> {
  const features = new Float32Array(passes.reduce((total, { tokens }) => total + tokens, 0) * width);
  let at = 0;
  for (const { feeds } of passes) {
    const outputs = await run(feeds);
    const part = outputs.floats("features");
    features.set(part, at);
    at += part.length;
    outputs.release();
  }
  return features;
}
