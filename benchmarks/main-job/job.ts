import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Task } from "../../src/contracts/generated/task.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import { loadPlan } from "../../src/plan/pipeline/load-plan.ts";

/** What both sides do. */
export interface JobOptions {
  model: "tiny" | "smollm2";
  batchSize: number;
  groupSize: number;
  /** Most tokens of an action. */
  actionTokens: number;
  /** Supervised steps of the tiny model before anything is measured. */
  warmSteps: number;
  threads: number;
  /** More of the pipeline's keys that both sides take otherwise. */
  overrides: string[];
  /** A file of chain-sum tasks instead of the pipeline's. */
  tasks?: string;
}

const pipelines = join(import.meta.dirname, "..", "..", "pipelines");

/** The rank, scale and layers of both sides' adapters. */
export const lora = { rank: 16, alpha: 32, targets: ["q_proj", "k_proj", "v_proj", "o_proj"] };

/**
 * The pipeline's plan with GRPO, without evaluations worth speaking of. The tiny model is warmed up on demonstrations
 * that all call the tool, so that each trajectory has two turns.
 */
export async function planJob(options: JobOptions, folder: string): Promise<Plan> {
  const { model, batchSize, groupSize, actionTokens, threads } = options;
  const tasks = resolve(options.tasks ?? join(pipelines, "calculator", "chain-sum-small.train.jsonl"));
  const common = [
    "steps=1",
    "evaluation.tasks=8",
    "evaluation.every=1000",
    "checkpoints.every=1000",
    `rollout.batchSize=${batchSize}`,
    `rollout.groupSize=${groupSize}`,
    "rollout.temperature=1",
    `rollout.concurrency=${batchSize}`,
    `rollout.maxActionTokens=${actionTokens}`,
    `dataset.train.config.path=${JSON.stringify(tasks)}`,
    "trainer.config.algorithm=grpo",
    "trainer.config.leaveOutUniformGroups=false",
    `trainer.config.threads=${threads}`,
    ...options.overrides,
  ];
  if (model === "smollm2") {
    const adapter = `trainer.config.lora=${JSON.stringify(lora)}`;
    return loadPlan(join(pipelines, "smollm2-math.yaml"), { overrides: [...common, adapter] });
  }
  const demonstrations = join(folder, "demonstrations.jsonl");
  await writeFile(demonstrations, await demonstrate(tasks));
  const warmStart = [
    `warmStart.demonstrations=${JSON.stringify(demonstrations)}`,
    `warmStart.steps=${options.warmSteps}`,
  ];
  return loadPlan(join(pipelines, "calculator.yaml"), { overrides: [...common, ...warmStart] });
}

/** For each task of the file, a conversation that calls the calculator and reads its answer out. */
async function demonstrate(file: string): Promise<string> {
  const tasks: Task[] = (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const rows = tasks.map(({ prompt, reward_model, extra_info }) => {
    const call = { name: "calculator", arguments: { expression: extra_info?.expression } };
    return {
      messages: [
        ...prompt,
        { role: "assistant", content: "", tool_calls: [{ type: "function", function: call }] },
        { role: "tool", content: reward_model.ground_truth },
        { role: "assistant", content: `Answer: ${reward_model.ground_truth}` },
      ],
    };
  });
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}
