import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../../src/base/records/defined.ts";
import { batchFeeds, batchSequences, type TokenSequence } from "../../src/engine/learning/batch.ts";
import { scoringModel } from "../../src/engine/learning/training-graphs.ts";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { readSafetensors } from "../../src/engine/models/weights/safetensors.ts";
import { readFrozenWeights, visionSources } from "../../src/engine/models/weights/weight-sources.ts";
import { createModelSession } from "../../src/engine/onnx/create-model-session.ts";
import { createImageTable, type ImageTable } from "../../src/engine/vision/image-table.ts";
import { createImageEncoder } from "../../src/engine/vision/open-image-encoder.ts";
import type { PreprocessedImage } from "../../src/engine/vision/preprocessed-image.ts";

// node tests/shapes/first-loss.ts FOLDER: the loss of the batch that first-loss.py left with a model of a published
// size, beside transformers'. A run by hand, of minutes and gigabytes.
interface Theirs {
  sequences: { tokens: number[]; mask: number[]; images?: number[] }[];
  image: { tokens: number; grid?: [number, number, number] };
  loss: number;
  losses: number[];
}

const [folder = ""] = process.argv.slice(2);
const config = await readModelConfig(join(folder, "config.json"));
const theirs: Theirs = JSON.parse(await readFile(join(folder, "loss.json"), "utf8"));
const seconds = { encode: 0 };
const table = config.vision && (await encodedImage());
const sequences = await Promise.all(
  theirs.sequences.map(async ({ tokens, mask, images = [] }): Promise<TokenSequence> => {
    if (!table) return { tokens, mask };
    const placed = images.map((start) => ({ sha256: "image", start }));
    return { mask, embeddings: table, tokens: (await table.replace(tokens, placed, readImage)).tokens };
  }),
);
const { weights, base } = await readFrozenWeights(folder);
const { bytes, reads } = scoringModel(defined({ config, base }), { values: false });
const session = await createModelSession(bytes, defined({ threads: 2, weightsFolder: base?.folder }));
const outputs = await session.run({
  ...Object.fromEntries(reads.map((name) => [name, weights.get(name)!])),
  ...batchFeeds(batchSequences(sequences, config)),
});
const losses = outputs.floats("logProbabilities").map((value) => -value);
const loss = losses.reduce((sum, value) => sum + value, 0) / losses.length;
const gap = theirs.losses.reduce((most, value, at) => Math.max(most, Math.abs(value - losses[at]!)), 0);
const model = config.vision?.model_type ?? config.model_type;
const peak = Math.round(process.resourceUsage().maxRSS / 1e3);
process.stdout.write(
  `${JSON.stringify({ model_type: model, loss, transformers: theirs.loss, largestGapOfAToken: gap, encodeSeconds: seconds.encode, peakMegabytes: peak })}\n`,
);
await session.close();

/** A table whose encoder holds nothing once the image is encoded. */
async function encodedImage(): Promise<ImageTable> {
  const { vision } = config;
  if (!vision) throw new Error(`${folder} is no vision-language model`);
  const encoder = createImageEncoder(config, vision, await visionSources(folder));
  const begun = performance.now();
  const features = await encoder.encode(await readImage());
  seconds.encode = (performance.now() - begun) / 1e3;
  await encoder.close();
  return createImageTable({ encode: async () => features }, config, vision);
}

async function readImage(): Promise<PreprocessedImage> {
  const { tokens, grid } = theirs.image;
  const { shape, data: pixels } = (await readSafetensors(join(folder, "pixels.safetensors"))).get("pixels")!;
  if (grid) return { kind: "patches", pixels, grid, tokens };
  const [tiles = 0, , height = 0, width = 0] = shape;
  return { kind: "tiles", pixels, tiles, height, width, tokens };
}
