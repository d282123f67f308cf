import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/contracts/json.ts";

const tests = join(import.meta.dirname, "..");

/** A pipeline's policy that says what it is told to, with a real tokenizer. */
export function scriptedPolicy(config: JsonObject & { conversations: string[][] }): JsonObject {
  const tokenizer = join(tests, "..", "pipelines", "calculator", "tokenizer");
  return { plugin: join(tests, "plugins", "policy-scripted"), config: { tokenizer, ...config } };
}

/** Writes a pipeline whose policy says what `conversations` hold, without a model; `more` replaces its keys. */
export function writeScriptedPipeline(
  folder: string,
  conversations: string[][],
  more: JsonObject & { tools: JsonObject[] },
): string {
  const dataset = {
    plugin: "dataset-jsonl",
    config: { path: join(tests, "fixtures", "scripted-tasks.jsonl") },
  };
  const pipeline = {
    name: "scripted",
    seed: 1,
    steps: 1,
    policy: scriptedPolicy({ conversations }),
    dataset: { train: dataset, validation: dataset },
    loop: { plugin: "loop-tool-agent", config: { maxTurns: 1000 } },
    reward: { plugin: "reward-exact-match" },
    trainer: { plugin: join(tests, "plugins", "trainer-idle") },
    evaluation: { tasks: 1 },
    ...more,
  };
  const file = join(folder, "scripted.yaml");
  writeFileSync(file, JSON.stringify(pipeline, null, 2)); // JSON is YAML
  return file;
}
