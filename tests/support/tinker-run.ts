import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/contracts/json.ts";
import { writeTinyPolicy } from "./tiny-policy.ts";

const root = join(import.meta.dirname, "..", "..");
const calculator = join(root, "pipelines", "calculator");
const jsonLines = (file: string) => ({ plugin: "dataset-jsonl", config: { path: join(calculator, file) } });

/** The calculator pipeline's held-out tasks. */
export const validationSet: JsonObject = jsonLines("chain-sum-small.val.jsonl");

/** Writes the base model that a pipeline names, without weights. Returns the size of its vocabulary. */
export async function writeServedModel(folder: string): Promise<number> {
  const vocabulary = await writeTinyPolicy(join(folder, "model"), 512);
  rmSync(join(folder, "model", "model.safetensors"));
  return vocabulary;
}

/** Writes a pipeline that trains and samples on a server; `more` replaces its keys. */
export function writeServedPipeline(
  folder: string,
  { server, url }: { server: string; url: string },
  more: JsonObject = {},
): string {
  const place = { server, url, baseModel: "tiny" };
  const pipeline = {
    name: "served",
    seed: 3,
    steps: 3,
    policy: {
      plugin: join(root, "plugins", "policy-tinker"),
      config: { ...place, model: join(folder, "model") },
    },
    dataset: {
      train: jsonLines("chain-sum-small.train.jsonl"),
      validation: validationSet,
    },
    tools: [{ plugin: "tool-calculator" }],
    loop: { plugin: "loop-tool-agent", config: { maxTurns: 2 } },
    reward: { plugin: join(root, "tests", "plugins", "reward-latin") },
    trainer: {
      plugin: join(root, "plugins", "trainer-tinker"),
      config: { ...place, learningRate: 0.1, warmupSteps: 1, minibatchSize: 8, lora: { rank: 8 } },
    },
    rollout: { batchSize: 16, groupSize: 4, maxActionTokens: 12 },
    evaluation: { every: 2, tasks: 4 },
    checkpoints: { every: 2 },
    ...more,
  };
  const file = join(folder, "served.yaml");
  writeFileSync(file, JSON.stringify(pipeline, null, 2)); // JSON is YAML
  return file;
}
