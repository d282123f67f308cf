import { expect, test } from "vitest";
import type { TokenSequence } from "../../../../src/engine/learning/batch.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import { modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import { torchFixture } from "../../torch-fixtures.ts";

/** log-softmax of a row of logits divided by a temperature, at a token. */
function logProbability(logits: Float32Array, token: number, temperature: number): number {
  const scaled = Array.from(logits, (logit) => logit / temperature);
  const largest = Math.max(...scaled);
  const total = scaled.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
  return scaled[token]! - largest - Math.log(total);
}

test.each([1, 0.7, 1.6])(
  "at temperature %d, action tokens have the log-probabilities of PyTorch's logits",
  async (temperature) => {
    const { config, json, tensors } = await torchFixture("qwen2", "families");
    const sequences = json.sequences as TokenSequence[];
    const weights = new Map([...modelWeightShapes(config).keys()].map((name) => [name, tensors.get(name)!]));
    const engine = createTrainingEngine({
      config,
      state: freshTrainerState({ config }, weights),
      gradientClip: 1,
      weightDecay: 0,
    });
    const scores = await engine.score(sequences, "policy", temperature);
    await engine.close();
    sequences.forEach(({ tokens, mask }, index) => {
      const logits = tensors.get(`logits.${index}`)!.data;
      const expected = tokens.flatMap((token, at) => {
        const row = logits.subarray((at - 1) * config.vocab_size, at * config.vocab_size);
        return mask[at] === 1 ? [logProbability(row, token, temperature)] : [];
      });
      expect([...scores[index]!.logProbabilities].length).toBe(expected.length);
      expected.forEach((value, at) => {
        expect(scores[index]!.logProbabilities[at]).toBeCloseTo(value, 4);
      });
    });
  },
);
