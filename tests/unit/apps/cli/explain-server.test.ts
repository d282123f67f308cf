// The server speaks Tinker's wire (tests/support/tinker-server.ts). No published server runs.
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { registerExplain } from "../../../../src/apps/cli/commands/explain.ts";
import { TinkerServer } from "../../../support/tinker-server.ts";
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
