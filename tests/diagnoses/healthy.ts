import type { JsonValue } from "../../src/contracts/json.ts";
import type { Case } from "./case.ts";

const short: Record<string, JsonValue> = {
  steps: 3,
  evaluation: { every: 0, tasks: 16 },
  "rollout.batchSize": 32,
};

/** Runs that learn: the examples of `pipelines/`. The first one makes the policy of the prepared runs. */
export const healthyCases: readonly Case[] = [
  healthy("calculator", { ...short, "warmStart.steps": 300 }),
  healthy("agent", {
    ...short,
    "warmStart.steps": 200,
    "rollout.batchSize": 16,
    "trainer.config.minibatchSize": 16,
    "evaluation.tasks": 4,
  }),
  healthy("code", { ...short, "warmStart.steps": 300 }),
  ...["feedback", "look", "market", "repair", "search", "sql", "web", "zoom"].map(example),
  healthy("calculator-sft", { steps: 3, "sft.epochs": null, "evaluation.tasks": 16 }),
  healthy("calculator-dpo", { "dpo.epochs": 1, "warmStart.steps": 100, "evaluation.tasks": 16 }),
];

/** An example, cut to three steps after enough demonstrations to solve some tasks. */
function example(pipeline: string): Case {
  return healthy(pipeline, { ...short, "warmStart.steps": 150, "warmStart.batchSize": 32 });
}

function healthy(pipeline: string, set: Record<string, JsonValue>): Case {
  return { name: pipeline, pipeline, set };
}
