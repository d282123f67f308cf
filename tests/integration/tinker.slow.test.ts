// Whole runs through Temporal that train and sample on a small server (tests/support/tinker-server.ts), written from what
// SkyRL 0.4.0 and TuFT 0.2.2 publish in their sources. No published server runs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { TrainingResult } from "../../src/contracts/run.ts";
import { readTrainedStep } from "../../src/results/ledger/trained-steps.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";
import { serveArithmetic } from "../support/served-arithmetic.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { validationSet, writeServedModel, writeServedPipeline } from "../support/tinker-run.ts";
import { stateOf } from "../support/tinker-server/arithmetic-model.ts";
import type { ServedCall, TinkerServer } from "../support/tinker-server.ts";
import { folderOf } from "../support/versions.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const vocabulary = await writeServedModel(folder);
const servers: TinkerServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const warmStart = {
  demonstrations: join(import.meta.dirname, "..", "fixtures", "tool-demonstrations.jsonl"),
  steps: 4,
  batchSize: 8,
  learningRate: 0.1,
};

/** Room for the demonstrated actions. */
const rollout = { batchSize: 16, groupSize: 4, maxActionTokens: 40 };

/** Runs a pipeline on a server of its own. Returns its result, its step records, and the weights of its newest version. */
async function trained(
  name: "skyrl-jax" | "tuft",
  more: Parameters<typeof writeServedPipeline>[2],
  fault: (call: ServedCall, server: TinkerServer) => "before" | undefined = () => undefined,
) {
  const { server, states } = await serveArithmetic(name, vocabulary, {
    fault: (call): "before" | undefined => fault(call, server),
  });
  servers.push(server);
  const pipeline = writeServedPipeline(folder, { server: name, url: server.url }, more);
  const ended = await everturn("run", pipeline, "--runs", runs, "--json");
  expect(ended.code, ended.stderr).toBe(0);
  const result = lastLine<TrainingResult>(ended.stdout);
  const run = await openRunFolder(runs, result.run);
  const records = await readLines<StepRecord>(runFolder(runs, result.run).metrics);
  const newest = records.at(-1)?.policyVersion ?? 0;
  const { path } = JSON.parse(readFileSync(join(await folderOf(run, newest), "tinker.json"), "utf8"));
  return { server, result, records, weights: stateOf(states, server.checkpoints.get(path)!.history) };
}

test("a run trains and samples on the server: warm start, steps, evaluations, report, ledger, resume", async () => {
  const { result, records, server } = await trained("skyrl-jax", { warmStart, rollout });
  expect(result).toMatchObject({ steps: 3, trajectories: 48 });
  expect(records.map(({ policyVersion }) => policyVersion)).toEqual([2, 3, 4]);
  for (const record of records) {
    expect(record.logprobGap, "recorded against recomputed log-probabilities").toBeLessThan(1e-4);
    expect(record.gradientNorm).toBeGreaterThan(0);
  }
  const { report } = runFolder(runs, result.run);
  expect(readFileSync(report, "utf8")).toContain("Held-out accuracy");
  expect([...server.models.keys()], "nothing is left on the server").toEqual([]);
  const resumed = await everturn("resume", result.run, "--runs", runs, "--set", "steps=4", "--json");
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(lastLine(resumed.stdout)).toMatchObject({ steps: 4, trajectories: 64 });
  const ledger = await everturn("ledger", result.run, "--runs", runs);
  expect(ledger.stdout, ledger.stderr).toContain("The ledger holds.");
  const run = await openRunFolder(runs, result.run);
  const steps = await Promise.all([1, 2, 3, 4].map((step) => readTrainedStep(run, step)));
  const isThere = steps.map((step) => server.checkpoints.has(step?.server?.checkpoint ?? ""));
  expect(isThere, "the first step's version was freed").toEqual([false, true, true, true]);
});

test.each(["skyrl-jax", "tuft"] as const)(
  "%s restarts during the second step's rollout and its update, and the run ends with the same weights",
  async (name) => {
    const settings = { steps: 2, evaluation: { every: 0, tasks: 2 } };
    const undisturbed = await trained(name, settings);
    const restarts: string[] = [];
    let saves = 0;
    const { weights, result } = await trained(name, settings, ({ path }, server) => {
      if (path === "save_weights") saves += 1;
      const next = ["asample", "optim_step"][restarts.length];
      if (saves === 0 || path !== next) return undefined;
      restarts.push(path);
      void server.restart();
      return "before";
    });
    expect(restarts).toEqual(["asample", "optim_step"]);
    expect(weights).toEqual(undisturbed.weights);
    const ledger = await everturn("ledger", result.run, "--runs", runs);
    expect(ledger.stdout, ledger.stderr).toContain("The ledger holds.");
  },
);

test("demonstrations and preference pairs train on the server without rollouts", async () => {
  const calculator = join(import.meta.dirname, "..", "..", "pipelines", "calculator");
  const common = { batchSize: 8, updates: 3, heldOut: 8, learningRate: 0.1 };
  const without = { steps: 2, dataset: { validation: validationSet }, evaluation: { every: 0, tasks: 2 } };
  const sft = { demonstrations: join(calculator, "calls.jsonl"), ...common };
  const dpo = { preferences: join(calculator, "preferences.jsonl"), ...common };
  for (const examples of [{ sft }, { dpo }]) {
    const { records } = await trained("skyrl-jax", { ...without, ...examples, rollout });
    const losses = records.map(({ heldOutLoss }) => heldOutLoss ?? Number.NaN);
    expect(losses.at(-1)).toBeLessThan(losses[0]!);
  }
});
