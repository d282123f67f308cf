import { join } from "node:path";
import { expect, test } from "vitest";
import policy from "../../../plugins/policy-onnx/index.ts";
import trainer from "../../../plugins/trainer-onnx/index.ts";
import { loadPlan } from "../../../src/plan/pipeline/load-plan.ts";
import { tokenizerFolder } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const pipeline = join(import.meta.dirname, "../../pipelines/small.yaml");
const initial = join(temporaryFolder(), "v0000");
const architecture = {
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 24,
  max_position_embeddings: 16,
};
const trajectories = [1, 0].map((reward, index) => ({
  id: `run/step-0001/task-0/${index}`,
  group: "task-0",
  reward,
  tokens: [5, 6 + index, 9, 4],
  mask: [0, 1, 0, 1],
  logprobs: [0, -4, 0, -4],
}));

test("a pipeline's own loss takes the place of the clipped ratio", async () => {
  await policy.initialize(initial, { tokenizer: tokenizerFolder, architecture }, 1);
  const gate = join(import.meta.dirname, "../../plugins/loss-soft-gate");
  const overrides = ["trainer.config.algorithm=dr-grpo", "rollout.groupSize=2"];
  const step = async (more: string[]) => {
    const plan = await loadPlan(pipeline, { overrides: [...overrides, ...more] });
    const { config, loss } = plan.trainer;
    const opened = await trainer.open({ initial, policy: initial }, config, 1, loss);
    const metrics = await opened.policyGradientStep(trajectories, { temperature: 1 });
    await opened.close();
    return metrics;
  };
  const own = await step([`trainer.loss={plugin: ${gate}, config: {positive: 2}}`]);
  const clipped = await step([]);
  expect(own.gradientNorm).toBeGreaterThan(0);
  expect(own.policyLoss).not.toBe(clipped.policyLoss);
  expect(own.clipFraction).toBe(0);
});
