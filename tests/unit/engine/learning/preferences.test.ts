import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Message } from "../../../../src/contracts/message.ts";
import { algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import { createTrainer } from "../../../../src/engine/learning/trainer.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { createFraming } from "../../../../src/engine/tokens/framing.ts";
import { loadTokenizer } from "../../../../src/engine/tokens/tokenizer.ts";
import { copyTrainerState } from "../../../support/copy-trainer-state.ts";
import { tokenizerFolder } from "../../../support/sample-plan.ts";

test("from a file of pairs to steps by direct preference optimization", async () => {
  const tokenizer = await loadTokenizer(tokenizerFolder);
  const framing = createFraming(tokenizer);
  const answer = (messages: Message[], content: string) =>
    framing.frameDemonstration([...messages, { role: "assistant", content }], []);
  const file = join(import.meta.dirname, "../../../fixtures/preferences.jsonl");
  const pairs = (await readFile(file, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => {
      const { messages, chosen, rejected } = JSON.parse(line);
      return { chosen: answer(messages, chosen), rejected: answer(messages, rejected) };
    });

  const config = modelConfig({
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 48,
    max_position_embeddings: 128,
  });
  const weights = randomModelWeights(config, 1);
  const trainer = createTrainer({
    config,
    seed: 1,
    state: copyTrainerState(freshTrainerState({ config }, weights)),
    reference: async () => weights,
    settings: {
      ...algorithmPresets.ppo,
      learningRate: 1e-3,
      warmupSteps: 0,
      decay: "none",
      decaySteps: 1,
      finalFraction: 0,
      epochs: 1,
      minibatchSize: 8,
      gradientClip: 1,
      weightDecay: 0,
    },
  });
  const steps = [];
  for (let epoch = 0; epoch < 15; epoch++)
    steps.push(await trainer.preferenceStep(pairs, 3e-3, { beta: 0.5 }));
  await trainer.close();
  expect(steps[0]!.loss).toBeCloseTo(Math.LN2, 4);
  expect(steps.at(-1)).toMatchObject({ accuracy: 1 });
  expect(steps.at(-1)!.loss).toBeLessThan(0.2);
});
