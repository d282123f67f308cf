import { expect, test } from "vitest";
import loop from "../../../../plugins/loop-tool-agent/everturn.plugin.json" with { type: "json" };
import policy from "../../../../plugins/policy-onnx/everturn.plugin.json" with { type: "json" };
import trainer from "../../../../plugins/trainer-onnx/everturn.plugin.json" with { type: "json" };
import pipelineSchema from "../../../../schemas/pipeline.schema.json" with { type: "json" };
import { foreignNames } from "../../../../src/base/validation/foreign-names.ts";
import { propertiesOf } from "../../../../src/base/validation/properties-of.ts";
import { changed, fileOf, refused } from "./workspace.ts";

const atTop = (line: string) => refused({ "pipeline.yaml": `${fileOf("pipeline.yaml")}${line}\n` });

const inTrainer = (plugin: string, line: string) =>
  refused(
    changed(
      "pipeline.yaml",
      "  plugin: trainer-test\n  config:\n    learningRate: 1e-4",
      `  plugin: ${plugin}\n  config: { minibatchSize: 8, learningRate: 1e-4, ${line} }`,
    ),
  );

test.each([
  ["num_generations: 8", "rollout.groupSize"],
  ["per_device_train_batch_size: 8", "rollout.batchSize"],
  ["max_completion_length: 256", "rollout.maxActionTokens"],
  ["beta: 0.04", "trainer.config.klCoefficient"],
  ["total_epochs: 15", "steps"],
  ["actor_rollout_ref.actor.clip_ratio: 0.2", "trainer.config.clipLow"],
  ["actor_rollout_ref: { rollout: { n: 8 } }", "rollout.groupSize"],
])("%s at the top of a pipeline", async (line, setting) => {
  expect(await atTop(line)).toContain(`Did you mean “${setting}”?`);
});

test("a section of verl's lists each of its keys", async () => {
  expect(await atTop("data: { train_batch_size: 256, max_response_length: 512, seed: 1 }")).toContain(
    "Write “rollout.batchSize” for data.train_batch_size, “rollout.maxActionTokens” for data.max_response_length.",
  );
});

test("a key next to the right one, which a smaller difference of another must not hide", async () => {
  expect(await inTrainer("trainer-onnx", "beta: 0.04")).toContain("Did you mean “klCoefficient”?");
  expect(await inTrainer("trainer-onnx", "ppo_epochs: 2")).toContain("Did you mean “epochs”?");
  expect(await inTrainer("trainer-onnx", "num_generations: 8")).toContain(
    "Did you mean “rollout.groupSize”?",
  );
  expect(await refused({}, ["rollout.n=8"])).toContain("Did you mean “groupSize”?");
});

test("a trainer that lacks the setting", async () => {
  const message = await inTrainer("trainer-test", "beta: 0.04");
  expect(message).toContain("Known keys: learningRate, minibatchSize, optimizer.");
  expect(message).not.toContain("klCoefficient");
});

test.each(foreignNames)("$setting is a setting", ({ setting }) => {
  const configs = { trainer, loop, policy };
  const [section, ...rest] = setting.split(".");
  const found =
    rest[0] === "config"
      ? reach(Object.entries(configs).find(([name]) => name === section)?.[1].config, rest.slice(1))
      : reach(pipelineSchema, setting.split("."));
  expect(found).toMatchObject({ title: expect.any(String) });
});

function reach(schema: unknown, keys: readonly string[]): unknown {
  return keys.reduce((at, key) => propertiesOf(at)[key], schema);
}
