import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { readVisionWeights } from "../../src/engine/models/weights/checkpoint.ts";
import { everturn, killIfRunning, type RunningCommand, start } from "../support/command.ts";
import { killAll, processesWith } from "../support/processes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

vi.setConfig({ testTimeout: 900_000 });

const folder = temporaryFolder();
const commands: RunningCommand[] = [];
afterAll(() => {
  commands.forEach(killIfRunning);
  killAll(processesWith(folder).keys(), "SIGKILL");
});

const root = join(import.meta.dirname, "..", "..");
const look = join(root, "pipelines", "look");
const vision = {
  image_size: 32,
  patch_size: 8,
  hidden_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 64,
};
/** A policy that sees, with a trained vision part. Each step makes four updates. */
const plan = {
  name: "trained-vision",
  seed: 5,
  steps: 3,
  policy: {
    plugin: "policy-onnx",
    config: {
      tokenizer: join(look, "tokenizer"),
      architecture: {
        hidden_size: 32,
        num_hidden_layers: 2,
        num_attention_heads: 4,
        intermediate_size: 64,
        max_position_embeddings: 512,
        initializer_range: 0.1,
        vision,
      },
    },
  },
  dataset: {
    train: { plugin: "dataset-jsonl", config: { path: join(look, "train.jsonl") } },
    validation: { plugin: "dataset-jsonl", config: { path: join(look, "held-out.jsonl") } },
    images: join(look, "images"),
  },
  tools: [{ plugin: "tool-image", functions: ["zoom"], config: { folder: join(look, "images") } }],
  loop: { plugin: join(root, "tests", "plugins", "loop-drill"), config: { turns: 2 } },
  reward: { plugin: join(root, "tests", "plugins", "reward-latin") },
  trainer: {
    plugin: "trainer-onnx",
    config: { algorithm: "grpo", learningRate: 1e-3, epochs: 2, minibatchSize: 8, freezeVisionTower: false },
  },
  rollout: { batchSize: 16, groupSize: 8, maxActionTokens: 12 },
  evaluation: { every: 3, tasks: 4 },
  checkpoints: { every: 1 },
};
const pipeline = join(folder, "pipeline.yaml");
writeFileSync(pipeline, JSON.stringify(plan));
const runOf = (runs: string) => basename(globSync(join(runs, "*"))[0] ?? "");

/** Returns the measurements of a run's steps. */
function recordsOf(runs: string): StepRecord[] {
  const lines = readFileSync(join(runs, runOf(runs), "metrics.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line): StepRecord => JSON.parse(line));
}

/** Returns the weights of a run's last version. */
async function lastWeights(runs: string): Promise<Buffer> {
  const exported = join(runs, "exported");
  const { code, stderr } = await everturn("export", runOf(runs), exported, "--runs", runs);
  expect(code, stderr).toBe(0);
  return readFileSync(join(exported, "model.safetensors"));
}

test("a run trains the vision part, samples with each version's, and kills change no bit", async () => {
  const [left, killed] = [join(folder, "left"), join(folder, "killed")];
  const { code, stderr } = await everturn("run", pipeline, "--runs", left);
  expect(code, stderr).toBe(0);
  expect(recordsOf(left)).toHaveLength(3);
  for (const { logprobGap, gradientNorm } of recordsOf(left)) {
    expect(gradientNorm).toBeGreaterThan(0);
    expect(logprobGap, "recorded against recomputed log-probabilities").toBeLessThan(1e-4);
  }
  const versions = globSync(join(left, runOf(left), "{initial,steps/*/trained}", "*", "policy"));
  expect(versions).toHaveLength(4);
  const connectors = await Promise.all(
    versions.map(async (path) => {
      const weights = await readVisionWeights(path);
      return weights.get("model.connector.modality_projection.proj.weight")!.data.join();
    }),
  );
  expect(new Set(connectors).size).toBe(4);

  for (const [number, moment] of ["reinforcement learning", "step 1", "step 2"].entries()) {
    const given = number === 0 ? ["run", pipeline] : ["resume", runOf(killed)];
    const command = start(...given, "--runs", killed);
    commands.push(command);
    const hasBegun = () => command.stdout().includes(moment) || command.child.exitCode !== null;
    await vi.waitUntil(hasBegun, { timeout: 300_000, interval: 20 });
    await sleep(500);
    killIfRunning(command);
    await command.end();
  }
  const resumed = await everturn("resume", runOf(killed), "--runs", killed);
  expect(resumed.code, resumed.stderr).toBe(0);
  const norms = (runs: string) => recordsOf(runs).map(({ gradientNorm }) => gradientNorm);
  expect(norms(killed)).toEqual(norms(left));
  expect((await lastWeights(killed)).equals(await lastWeights(left))).toBe(true);
});
