import type { PassedGradients } from "../vision/trained-encoder.ts";
import type { TrainedImages } from "../vision/trained-images.ts";
import type { AdamW } from "./adamw.ts";
import type { TokenBatch } from "./batch.ts";
import { addInPlace } from "./pass-gradients.ts";

/** The gradients of a minibatch with respect to a vision part that is trained. */
export interface VisionGradients {
  /** Adds a pass's gradients of its images' embeddings. */
  add(batch: Pick<TokenBatch, "imageIds">, ofEmbeddings: Float32Array): void;
  /** Passes all gradients on through the encoder. Returns those of its weights; none if there were no images. */
  total(): Promise<ReadonlyMap<string, Float32Array>>;
  /** Releases the memory of the gradients. */
  release(): void;
}

/**
 * Sums gradients with respect to a vision part. The first are written to `rooms`, by weight. The optimizer's threads add
 * the others. `before` is called before each image, and may throw.
 */
export function visionGradients(
  images: Pick<TrainedImages, "gradients">,
  rooms: ReadonlyMap<string, Float32Array>,
  optimizer: Pick<AdamW, "add">,
  before: () => void,
): VisionGradients {
  const ofEmbeddings = new Map<number, Float32Array>();
  let first: PassedGradients | undefined;
  return {
    add({ imageIds }, gradient) {
      const width = gradient.length / Math.max(1, imageIds.length);
      for (const [number, id] of imageIds.entries()) {
        const row = gradient.subarray(number * width, (number + 1) * width);
        const sum = ofEmbeddings.get(id);
        if (sum) addInPlace(sum, row);
        else ofEmbeddings.set(id, row.slice());
      }
    },
    async total() {
      for await (const passed of images.gradients(ofEmbeddings, rooms, before)) {
        if (first) {
          await optimizer.add(first.gradients, passed.gradients);
          passed.release();
        } else first = passed;
      }
      return first?.gradients ?? new Map();
    },
    release: () => first?.release(),
  };
}
