import { join } from "node:path";
import { everturnFolder } from "../../../base/processes/own-module.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import type { ResolvedPlugin } from "../../../contracts/plan.ts";
import type { TrainerSurroundings, TrainingTrajectory } from "../../../contracts/trainer.ts";
import { loadPolicy, loadTrainer } from "../../../plugin/registry/registry.ts";
import { openSubject } from "../open-subject.ts";

/** The configuration of a policy that trains within a moment. */
const config: JsonObject = {
  tokenizer: join(everturnFolder, "pipelines", "calculator", "tokenizer"),
  architecture: {
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 24,
    max_position_embeddings: 64,
  },
};

export const surroundings: TrainerSurroundings = {
  groupSize: 2,
  batchSize: 2,
  staleness: 0,
  policy: { pretrained: false, restrictions: [] },
};

/** Two trajectories of a group. Only one earned a reward. */
export const trajectories: TrainingTrajectory[] = [1, 0].map((reward, index) => ({
  id: `check/step-0001/task-0/${index}`,
  group: "task-0",
  reward,
  tokens: [5, 6 + index, 9, 4],
  mask: [0, 1, 0, 1],
  logprobs: [0, -4, 0, -4],
}));

/** One of the plugins that come with Everturn. */
async function own(name: string, given: JsonObject): Promise<ResolvedPlugin> {
  const subject = await openSubject(name, everturnFolder, given);
  if ("problems" in subject) throw new Error(`${name} is not there`);
  return subject.plugin;
}

/** Writes a small policy with random weights into `folder`. */
export async function writeSmallPolicy(folder: string): Promise<void> {
  const plugin = await own("policy-onnx", config);
  await (await loadPolicy(plugin)).initialize(folder, plugin.config, 1);
}

/** The trainer that comes with Everturn, with a loss, on the policy in `initial`. */
export async function smallTrainer(initial: string, loss: ResolvedPlugin) {
  const plugin = await own("trainer-onnx", { algorithm: "dr-grpo" });
  const trainer = await loadTrainer(plugin);
  const resolved = trainer.resolve?.(structuredClone(plugin.config), surroundings).config ?? plugin.config;
  return trainer.open({ initial, policy: initial, reference: initial }, resolved, 1, loss);
}
