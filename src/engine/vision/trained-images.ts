import type { ImageEmbeddings } from "../../contracts/image-tokens.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { VisionConfig } from "../models/config/vision-config.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { createImageTable, type HeldImage, type ImageTable, rowOf } from "./image-table.ts";
import type { ImageEncoder } from "./open-image-encoder.ts";
import type { PreprocessedImage } from "./preprocessed-image.ts";
import { createTrainedEncoder, type PassedGradients } from "./trained-encoder.ts";

/**
 * Images as the policy sees them while its vision part is trained. Ids are those of their tokens in a table. `before` is
 * called before each image, and may throw.
 */
export interface TrainedImages {
  readonly table: ImageTable;
  /**
   * Encodes the images of ids again, unless their embeddings are those of the current weights. Returns the number of
   * images.
   */
  refresh(ids: Iterable<number>, before: () => void): Promise<number>;
  /** Returns the embeddings of the images of ids under the reference's weights. */
  ofReference(ids: Iterable<number>, before: () => void): Promise<ImageEmbeddings>;
  /**
   * Yields the gradients of the weights, from the gradients of embeddings by id. The first are written to the
   * destinations in `into`, by weight. The order is that of the ids.
   */
  gradients(
    ofEmbeddings: ReadonlyMap<number, Float32Array>,
    into: ReadonlyMap<string, Float32Array>,
    before: () => void,
  ): AsyncGenerator<PassedGradients>;
  close(): Promise<void>;
}

/** The weights of a trainer, and the number of updates that they have had. */
interface ChangingWeights {
  readonly weights: ReadonlyMap<string, Tensor>;
  readonly updates: number;
}

/** Creates images for a state, which the trainer changes. `openReference` opens the reference's encoder. */
export function createTrainedImages(
  config: ModelConfig,
  vision: VisionConfig,
  state: ChangingWeights,
  openReference: () => Promise<ImageEncoder>,
  threads = 2,
): TrainedImages {
  const width = config.hidden_size;
  const encoder = createTrainedEncoder(config, vision, () => state.weights, threads);
  /** The updates that the weights had had when they gave embeddings. */
  const madeAfter = new WeakMap<Float32Array, number>();
  let reference: ImageEncoder | undefined;
  const referenceFeatures = new WeakMap<HeldImage, Float32Array>();

  const encode = async (image: PreprocessedImage) => {
    const { updates } = state;
    const features = await encoder.encode(image);
    madeAfter.set(features, updates);
    return features;
  };
  const table = createImageTable({ encode }, config, vision);

  /** Returns the images of ids, in the order of their first ids among these. */
  const imagesOf = (ids: Iterable<number>) => {
    const images = new Set<HeldImage>();
    let last: HeldImage | undefined;
    for (const id of ids) {
      if (id < config.vocab_size || (last && last.first <= id && id < last.first + last.count)) continue;
      last = table.imageOf(id);
      images.add(last);
    }
    return images;
  };

  return {
    table,
    async refresh(ids, before) {
      const images = imagesOf(ids);
      for (const image of images) {
        before();
        if (madeAfter.get(image.features) !== state.updates)
          image.features = await encode(await image.prepare());
      }
      return images.size;
    },
    async ofReference(ids, before) {
      reference ??= await openReference();
      for (const image of imagesOf(ids)) {
        before();
        if (!referenceFeatures.has(image))
          referenceFeatures.set(image, await reference.encode(await image.prepare()));
      }
      return {
        has: table.has,
        place: table.place,
        embedding(id) {
          const image = table.imageOf(id);
          return rowOf(referenceFeatures.get(image)!, id - image.first, width);
        },
      };
    },
    async *gradients(ofEmbeddings, into, before) {
      let destinations = into;
      for (const image of imagesOf(ofEmbeddings.keys())) {
        before();
        const ofImage = new Float32Array(image.count * width);
        for (let number = 0; number < image.count; number++)
          ofImage.set(ofEmbeddings.get(image.first + number) ?? [], number * width);
        yield* encoder.gradients(await image.prepare(), ofImage, destinations);
        destinations = new Map();
      }
    },
    async close() {
      await encoder.close();
      await reference?.close();
    },
  };
}
