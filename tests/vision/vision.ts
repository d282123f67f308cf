/**
 * Compares vision-language models and their processors with transformers, by the fixtures of
 * scripts/make-vision-fixtures.py and scripts/make-image-fixtures.py, and trains pipelines/look.yaml, which takes minutes.
 *
 * usage: npm run vision [-- --json]
 *
 * The last line is JSON: the largest relative errors of logits and gradients (of the language parts, and of the
 * vision parts), the largest error of the weights after two updates of all of them (relative to their change), the largest difference of a pixel in levels of 255, whether greedy continuations of 64 tokens and the
 * numbers of image tokens are equal, and the shares of held-out tasks that the example solves.
 */

import { openImageReader } from "../../src/engine/vision/preprocess/image-reader.ts";
import { imageCases, imageFile, imageProcessors, levelDifference } from "../support/image-cases.ts";
import { featuresError, gradientsError, greedyTokens, logitsError } from "./compared.ts";
import { heldOut } from "./held-out.ts";
import { visionFixture, visionModels } from "./vision-fixtures.ts";
import { visionGradientsError } from "./vision-gradients.ts";
import { updatesError } from "./vision-updates.ts";

const isJson = process.argv.includes("--json");
const say = (text: string) => {
  if (!isJson) process.stdout.write(`${text}\n`);
};

const models = [];
for (const name of visionModels) {
  const fixture = await visionFixture(name);
  const features = await featuresError(fixture);
  const logits = await logitsError(fixture);
  const { gradients } = await gradientsError(fixture);
  const visionGradients = await visionGradientsError(fixture);
  const updates = await updatesError(fixture);
  const expected = fixture.sequences.map(({ greedy }) => greedy);
  const sampled = await greedyTokens(fixture, 8);
  const greedyEqual = JSON.stringify(sampled) === JSON.stringify([...expected, ...expected]);
  say(
    `${name}: features ${features}, logits ${logits}, gradients ${gradients}, of the vision part ${visionGradients}, two updates ${updates.language} and of the vision part ${updates.vision}, greedy equal ${greedyEqual}`,
  );
  models.push({ features, logits, gradients, visionGradients, updates, greedyEqual });
}

let [pixels, tokensEqual] = [0, true];
for (const [name, processor] of imageProcessors) {
  const reader = openImageReader(processor);
  for (const { image, made } of imageCases.cases) {
    const wanted = made[name];
    if (!wanted) continue;
    const given = await reader.pixels(image, async () => imageFile(image));
    const difference = levelDifference(processor, given, wanted);
    if (given.tokens !== wanted.imageTokens) tokensEqual = false;
    pixels = Math.max(pixels, difference);
    say(`${name}, ${image}: ${difference} levels, ${given.tokens} tokens`);
  }
}

const summary = {
  features: Math.max(...models.map(({ features }) => features)),
  logits: Math.max(...models.map(({ logits }) => logits)),
  gradients: Math.max(...models.map(({ gradients }) => gradients)),
  visionGradients: Math.max(...models.map(({ visionGradients }) => visionGradients)),
  updates: Math.max(...models.map(({ updates }) => Math.max(updates.language, updates.vision))),
  pixels,
  tokensEqual,
  greedyEqual: models.every(({ greedyEqual }) => greedyEqual),
  heldOut: await heldOut(),
};
process.stdout.write(`${JSON.stringify(summary)}\n`);
process.exit(); // the processes that decode images wait for more
