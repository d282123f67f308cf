// The server speaks Tinker's wire (tests/support/tinker-server.ts). No published server runs.
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { registerExplain } from "../../../../src/apps/cli/commands/explain.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { TinkerServer } from "../../../support/tinker-server.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";
import { runCommand } from "./run-command.ts";

const server = await new TinkerServer({ numbering: "tuft" }).start();
afterAll(() => server.stop());

/** The calculator pipeline on a training server: 64 trajectories of at most 512 tokens in a step. */
function explain(...more: string[]): Promise<string> {
  const pipeline = join(import.meta.dirname, "..", "..", "..", "..", "pipelines", "calculator.yaml");
  const config = {
    server: "tuft",
    url: server.url,
    baseModel: "tiny",
    downloadAdapter: false,
    prices: { prefill: 1, sample: 2, train: 4 },
  };
  const sets = [
    `trainer=${JSON.stringify({ plugin: "trainer-tinker", config })}`,
    "rollout.groupSize=8",
    "steps=10",
    ...more,
  ];
  return runCommand(registerExplain, "explain", pipeline, ...sets.flatMap((set) => ["--set", set]), "--json");
}

const row = 64 * 511; // the last token of a trajectory is only predicted

test("the requests, tokens and costs of a step and of the run follow from the pipeline", async () => {
  const { server: told } = JSON.parse(await explain("warmStart=null"));
  // The reference's scores, the policy's, gradients, an optimizer step, a checkpoint.
  const step = { requests: 5, prefill: 2 * row, sample: 0, train: row };
  const cost = { amount: (2 * row + 4 * row) / 1e6, currency: "USD" };
  expect(told.atMost.step).toEqual({ ...step, cost });
  expect(told.atMost.run).toMatchObject({ requests: 50, prefill: 20 * row, train: 10 * row });
  expect(told.measured).toBeUndefined();
});

test("a warm start adds its updates on demonstrations as long as the longest", async () => {
  const told = JSON.parse(await explain("warmStart.steps=3", "trainer.config.klCoefficient=0"));
  const { atMost, ...others } = told.server;
  expect(others).toEqual({});
  // The server computes this loss itself, so no scores are needed.
  expect(atMost.step).toMatchObject({ requests: 3, prefill: 0, train: row });
  const { longest } = told.preflight.rows.find(
    ({ name }: { name: string }) => name === "warmStart.demonstrations",
  );
  // Three updates, each of scores, gradients and an optimizer step; then a checkpoint.
  expect(atMost.run.requests).toBe(10 * 3 + 3 * 3 + 1);
  expect(atMost.run.train).toBe(10 * row + 3 * 64 * (longest - 1));
});

test("actions that the server samples count with their contexts, in steps and in evaluations", async () => {
  const model = join(temporaryFolder(), "base");
  await writeTinyPolicy(model, 512);
  const config = { server: "tuft", url: server.url, baseModel: "tiny", model };
  const told = JSON.parse(
    await explain(
      `policy=${JSON.stringify({ plugin: "policy-tinker", config })}`,
      "warmStart=null",
      "trainer.config.klCoefficient=0",
      "evaluation={every: 0, tasks: 5}",
    ),
  );
  // Three turns of at most 40 tokens. The first context is a prompt, the others may fill the whole context.
  const sampling = { requests: 3, prefill: told.longestPrompt + 2 * 512, sample: 120 };
  const { step, run } = told.server.atMost;
  // TuFT samples with other code than it trains with, so the policy's scores correct for the difference.
  expect(step).toMatchObject({
    requests: 4 + 64 * sampling.requests,
    prefill: row + 64 * sampling.prefill,
    sample: 64 * sampling.sample,
  });
  // Two evaluations of five tasks.
  expect(run.sample).toBe(10 * step.sample + 10 * sampling.sample);
  expect(run.cost.amount).toBeCloseTo((run.prefill + 2 * run.sample + 4 * run.train) / 1e6);
});
