import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { batchFeeds, batchSequences, type TokenSequence } from "../../src/engine/learning/batch.ts";
import { scoringModel } from "../../src/engine/learning/training-graphs.ts";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { readWeights } from "../../src/engine/models/weights/checkpoint.ts";
import { checkModelWeights } from "../../src/engine/models/weights/model-weights.ts";
import { createModelSession } from "../../src/engine/onnx/create-model-session.ts";

// node tests/shapes/first-loss.ts FOLDER: the loss of the batch that first-loss.py left with a model of a published
// size, beside transformers'. A run by hand, of minutes and gigabytes.
const [folder = ""] = process.argv.slice(2);
const config = await readModelConfig(join(folder, "config.json"));
const weights = await readWeights(folder);
checkModelWeights(config, weights);
const theirs: { sequences: TokenSequence[]; loss: number; losses: number[] } = JSON.parse(
  await readFile(join(folder, "loss.json"), "utf8"),
);
const { bytes, reads } = scoringModel({ config }, { values: false });
const session = await createModelSession(bytes, { threads: 2 });
const outputs = await session.run({
  ...Object.fromEntries(reads.map((name) => [name, weights.get(name)!])),
  ...batchFeeds(batchSequences(theirs.sequences, config)),
});
const losses = outputs.floats("logProbabilities").map((value) => -value);
const loss = losses.reduce((sum, value) => sum + value, 0) / losses.length;
const gap = theirs.losses.reduce((most, value, at) => Math.max(most, Math.abs(value - losses[at]!)), 0);
process.stdout.write(
  `${JSON.stringify({ model_type: config.model_type, loss, transformers: theirs.loss, largestGapOfAToken: gap })}\n`,
);
await session.close();
