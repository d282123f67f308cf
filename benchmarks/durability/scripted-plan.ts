import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";

const pipeline = join(import.meta.dirname, "pipeline.yaml");

/** Tasks that say nothing: as many as a step needs. */
export function tasksOf(count: number): Task[] {
  return Array.from({ length: count }, (_, index) => ({
    data_source: "scripted",
    prompt: [{ role: "user", content: `Task ${index}.` }],
    reward_model: { ground_truth: "1" },
  }));
}

/** A conversation that calls the calculator in each turn but the last. */
export function conversation(turns: number, thought = ""): string[] {
  const call = `${thought}<tool_call>{"name":"calculator","arguments":{"expression":"12 + 34 * 5"}}</tool_call>`;
  return [...Array.from({ length: turns - 1 }, () => call), "1"];
}

/** What trajectories of a scripted policy are made of. */
export interface Scripted {
  /** Each trajectory follows one of these conversations, by its sample's number. */
  conversations: string[][];
  /** Of each generation. */
  seconds: number;
  /** Trajectories of a step, all of them at once. */
  batchSize: number;
  steps?: number;
}

/** The plan of a scripted policy, whose tasks are written to `folder`. */
export async function scriptedPlan(
  folder: string,
  { conversations, seconds, batchSize, steps = 1 }: Scripted,
): Promise<Plan> {
  const file = join(folder, `tasks-${batchSize}.jsonl`);
  const lines = tasksOf(batchSize).map((task) => `${JSON.stringify(task)}\n`);
  await writeFile(file, lines.join(""));
  return loadPlan(pipeline, {
    overrides: [
      `policy.config.conversations=${JSON.stringify(conversations)}`,
      `policy.config.seconds=${seconds}`,
      `rollout.batchSize=${batchSize}`,
      `rollout.concurrency=${Math.min(batchSize, 1000)}`,
      `dataset.train.config.path=${file}`,
      `dataset.validation.config.path=${file}`,
      `steps=${steps}`,
    ],
  });
}
