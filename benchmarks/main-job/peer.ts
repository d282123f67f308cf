import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { mean } from "../../src/base/statistics/mean.ts";
import type { Plan } from "../../src/contracts/plan.ts";
import { type JobOptions, lora } from "./job.ts";
import type { SelectedTask } from "./own-run.ts";

/** Seconds of a step of TRL's trainer. `rollout` is generation and tools; `generation` is within it. */
export interface PeerStep {
  total: number;
  rollout: number;
  generation: number;
  score: number;
  train: number;
  completionTokens: number;
  toolCalls: number;
  reward: number;
}

/** TRL's trainer in a process of its own. */
export interface Peer {
  /** Takes the next `count` steps in a row. The mean's `total` includes all time between them. */
  take(count: number): Promise<{ mean: PeerStep; last: PeerStep }>;
  close(): Promise<void>;
}

/** Starts peers/main_job.py and waits until it is ready for its first step. */
export async function startPeer(options: {
  python: string;
  folder: string;
  plan: Plan;
  options: JobOptions;
  policy: string;
  tasks: SelectedTask[];
  steps: number;
}): Promise<Peer> {
  const { plan, policy, tasks, steps, options: job } = options;
  const settings = {
    model: policy,
    tasks: tasks.map(({ task }) => ({ prompt: task.prompt, ground_truth: task.reward_model.ground_truth })),
    steps,
    groupSize: job.groupSize,
    batchSize: job.batchSize,
    threads: job.threads,
    minibatchSize: Number(plan.trainer.config.minibatchSize),
    epochs: Number(plan.trainer.config.epochs),
    klCoefficient: Number(plan.trainer.config.klCoefficient),
    maxActionTokens: plan.rollout.maxActionTokens,
    maxTurns: Number(plan.loop.config.maxTurns),
    temperature: plan.rollout.temperature,
    learningRate: Number(plan.trainer.config.learningRate),
    output: join(options.folder, "trl"),
    lora: job.model === "smollm2" ? lora : undefined,
    chatTemplate: job.model === "smollm2" ? String(plan.policy.config.chatTemplate) : undefined,
  };
  const file = join(options.folder, "peer.json");
  await writeFile(file, JSON.stringify(settings));
  const script = join(import.meta.dirname, "..", "peers", "main_job.py");
  const child = spawn(options.python, [script, file], { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (text) => {
    errors = `${errors}${text}`.slice(-4000);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the peer ended: ${errors}`);
    return value;
  };
  const step = async (): Promise<PeerStep> => JSON.parse(await answer());
  await answer();
  return {
    take: async (count) => {
      const started = performance.now();
      child.stdin.write("step\n".repeat(count));
      const taken = [await step()];
      while (taken.length < count) taken.push(await step());
      const total = (performance.now() - started) / 1000 / count;
      const meanOf = (pick: (one: PeerStep) => number) => mean(taken.map(pick));
      const means = {
        total,
        rollout: meanOf(({ rollout }) => rollout),
        generation: meanOf(({ generation }) => generation),
        score: meanOf(({ score }) => score),
        train: meanOf(({ train }) => train),
        completionTokens: meanOf(({ completionTokens }) => completionTokens),
        toolCalls: meanOf(({ toolCalls }) => toolCalls),
        reward: meanOf(({ reward }) => reward),
      };
      return { mean: means, last: taken.at(-1) ?? means };
    },
    close: async () => {
      const ended = once(child, "exit");
      child.stdin.end();
      child.kill();
      if (child.exitCode === null) await ended;
    },
  };
}
