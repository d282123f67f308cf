import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, Trainer, TrainingTrajectory } from "everturn/plugin";
import { expect, test } from "vitest";
import policy from "../../../plugins/policy-onnx/index.ts";
import manifest from "../../../plugins/trainer-onnx-ppo/everturn.plugin.json" with { type: "json" };
import plugin from "../../../plugins/trainer-onnx-ppo/index.ts";
import { createAjv } from "../../../src/validation/ajv.ts";
import { tokenizerFolder } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const initial = at("v0000");
const architecture = {
  ...{ hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 2, intermediate_size: 24 },
  max_position_embeddings: 16,
};
await policy.initialize(initial, { tokenizer: tokenizerFolder, architecture }, 1);

/** The plugin's configuration with the manifest's defaults. */
const config: JsonObject = { minibatchSize: 2, learningRate: 1e-2, warmupSteps: 1, klCoefficient: 0.1 };
createAjv().validate(manifest.config, config);

const demonstrations = [
  { tokens: [5, 6, 7, 8], mask: [0, 0, 1, 1] },
  { tokens: [5, 7, 9], mask: [0, 1, 1] },
];
const trajectories: TrainingTrajectory[] = [1, 0, 1, 0].map((reward, index) => ({
  ...{ id: `run/step-0001/task-${index}/0`, group: `task-${index}`, reward },
  tokens: [5, 6 + index, 9, 4],
  mask: [0, 1, 0, 1],
  logprobs: [0, -3, 0, -4],
}));
const supervised = { learningRate: 1e-2, steps: 4 };

/** All bytes that a trainer saves, by file. */
async function saved(trainer: Trainer, name: string): Promise<Map<string, Buffer>> {
  await trainer.save(at(`${name}-policy`), at(`${name}-state`));
  const files = [`${name}-policy`, `${name}-state`].flatMap((one) =>
    readdirSync(at(one)).map(
      (file) => [one.replace(name, ""), file, readFileSync(join(at(one), file))] as const,
    ),
  );
  return new Map(files.map(([part, file, bytes]) => [`${part}/${file}`, bytes]));
}

test("saved and opened again, it goes on bit by bit as if it had never stopped", async () => {
  const warm = await plugin.open({ initial, policy: initial }, config, 1);
  await warm.supervisedStep(demonstrations, supervised);
  await saved(warm, "one");
  const folders = { initial, policy: at("one-policy"), state: at("one-state") };
  const resumed = await plugin.open(folders, config, 1);
  expect(await resumed.supervisedStep(demonstrations, supervised)).toEqual(
    await warm.supervisedStep(demonstrations, supervised),
  );
  expect(await saved(resumed, "resumed")).toEqual(await saved(warm, "warm"));
  await warm.close();
  await resumed.close();

  const reference = at("warm-policy");
  const trainer = await plugin.open({ initial, policy: reference, reference }, config, 1);
  await trainer.policyGradientStep(trajectories);
  await saved(trainer, "two");
  const again = await plugin.open(
    { initial, policy: at("two-policy"), state: at("two-state"), reference },
    config,
    1,
  );
  const metrics = await again.policyGradientStep(trajectories);
  expect(metrics).toEqual(await trainer.policyGradientStep(trajectories));
  expect(metrics.kl).toBeGreaterThan(0);
  expect(await saved(again, "again")).toEqual(await saved(trainer, "three"));
  await trainer.close();
  await again.close();
});

test("a saved policy is a whole one: version 0's files with other weights", async () => {
  const trainer = await plugin.open({ initial, policy: initial }, config, 1);
  await trainer.supervisedStep(demonstrations, supervised);
  await trainer.save(at("next"), at("next-state"));
  expect(readdirSync(at("next")).sort()).toEqual(readdirSync(initial).sort());
  const weights = (name: string) => readFileSync(join(at(name), "model.safetensors"));
  expect(weights("next")).not.toEqual(weights("v0000"));
  await trainer.close();
});
