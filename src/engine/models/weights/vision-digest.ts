import { createHash } from "node:crypto";
import type { ModelConfig } from "../config/model-config.ts";
import { openVisionWeights } from "./checkpoint.ts";
import { checkShapes } from "./model-weights.ts";
import { visionWeightShapes } from "./vision-weights.ts";

/**
 * Returns the SHA-256 of the vision part in a model's folder: of its numbers in float32, whatever their type is there.
 * Reads one weight at a time. Throws MODEL_WEIGHTS_MISMATCH and the errors of `readVisionWeights`.
 */
export async function visionDigest(folder: string, config: ModelConfig): Promise<string> {
  const shapes = visionWeightShapes(config);
  const weights = await openVisionWeights(folder);
  checkShapes(shapes, weights);
  const hash = createHash("sha256");
  for (const name of shapes.keys()) {
    const { data } = await weights.get(name)!.load();
    hash.update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
  return hash.digest("hex");
}
