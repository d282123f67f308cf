// The servers here are tiny ones in this process (tests/support/tiny-server.ts).
import { join } from "node:path";
import type { JsonObject, StepSize, Trainer } from "everturn/engine";
import { expect, test } from "vitest";
import plugin from "../../../../plugins/trainer-tinker/index.ts";
import { openTrainer } from "../../../../plugins/trainer-tinker/open-trainer.ts";
import { profiles, type ServerName } from "../../../../plugins/trainer-tinker/profiles.ts";
import { readConfig, resolveTraining } from "../../../../plugins/trainer-tinker/settings.ts";
import { defined } from "../../../../src/base/records/defined.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";
import { tinyServer } from "../../../support/tiny-server.ts";
import { surroundings } from "../../../support/training-batch.ts";

const folder = temporaryFolder();
const initial = join(folder, "v0000");
const vocabulary = await writeTinyPolicy(initial);

const sequence = { tokens: [5, 6, 9, 4, 7, 8], mask: [0, 1, 0, 1, 0, 1] };
const trajectories = [1, 0, 0.5, 0.25].map((reward, index) => ({
  ...sequence,
  id: `run/step-0001/task-${index}/0`,
  group: `task-${index % 2}`,
  reward,
  logprobs: [0, -5, 0, -5.5, 0, -5],
}));

/** What a step is forecast to use on a server, and what it used. */
async function usageOf(
  server: ServerName,
  settings: JsonObject,
  size: StepSize,
  work: (trainer: Trainer) => Promise<unknown>,
) {
  const { crossEntropy: reduction, gradientNorm } = profiles[server];
  const tiny = tinyServer(defined({ vocabulary, reduction, gradientNorm }));
  const given = { server, url: "http://127.0.0.1:1", baseModel: "tiny", warmupSteps: 1, ...settings };
  const { config } = resolveTraining(given, surroundings);
  const trainer = await openTrainer({
    server: tiny,
    folders: { initial, policy: initial },
    config: readConfig(config),
    seed: 1,
    loss: undefined,
  });
  const before = { calls: tiny.calls.length, ...tiny.tokens };
  await work(trainer);
  await trainer.save(join(folder, "policy"), join(folder, "state"));
  const calls = tiny.calls.slice(before.calls);
  const tokens = (name: string) => (tiny.tokens[name] ?? 0) - (Object(before)[name] ?? 0);
  const custom = tokens("custom_backward");
  return {
    forecast: plugin.usage?.(config, size),
    used: {
      // The custom backward of the tiny server is two requests on a real one: a forward pass, and the gradients.
      requests: calls.length + calls.filter((call) => call.includes("custom_backward")).length,
      prefill: tokens("forward") + custom,
      train: tokens("forward_backward") + custom,
    },
  };
}

const step = {
  of: "trajectories" as const,
  count: 4,
  tokens: 6,
  updates: 1,
  heldOut: 0,
  hasLossPlugin: false,
};

test.each<[ServerName, JsonObject]>([
  ["tinker", {}],
  ["tinker", { minibatchSize: 2 }],
  ["tuft", { minibatchSize: 2, callTokens: 7 }],
  ["tuft", { callTokens: 12 }],
  ["skyrl-jax", { klCoefficient: 0.1, klIn: "loss" }],
  ["skyrl-jax", { klCoefficient: 0.1, klIn: "reward", minibatchSize: 2 }],
  ["tinker", { importanceCorrection: "token-truncate" }],
  ["tinker", { importanceCorrection: "token-truncate", minibatchSize: 2, epochs: 2 }],
  ["hatchery", { epochs: 3, minibatchSize: 2 }],
])("the forecast is what a step on trajectories of that length uses: %s, %j", async (server, settings) => {
  const { forecast, used } = await usageOf(server, settings, step, (trainer) =>
    trainer.policyGradientStep(trajectories, { temperature: 1 }),
  );
  expect(forecast).toEqual(used);
  expect(used.train).toBeGreaterThan(0);
});

test("a step on demonstrations, with held-out ones", async () => {
  const size = {
    of: "demonstrations" as const,
    count: 3,
    tokens: 6,
    updates: 2,
    heldOut: 2,
    hasLossPlugin: false,
  };
  const batch = [sequence, sequence, sequence];
  const settings = { learningRate: 0.1, steps: 2 };
  const { forecast, used } = await usageOf("skyrl-jax", {}, size, async (trainer) => {
    await trainer.supervisedStep(batch, settings);
    await trainer.supervisedStep(batch, settings);
    await trainer.score?.([sequence, sequence], "policy");
  });
  expect(forecast).toEqual(used);
});

test("a step on pairs, whose reference scores are new", async () => {
  const size = { of: "pairs" as const, count: 1, tokens: 6, updates: 1, heldOut: 0, hasLossPlugin: false };
  const other = { ...sequence, tokens: [5, 6, 9, 4, 7, 2] };
  const { forecast, used } = await usageOf("tinker", {}, size, async (trainer) => {
    const [chosen, rejected] = (await trainer.score?.([sequence, other], "reference")) ?? [];
    const reference = { chosen: chosen!, rejected: rejected! };
    const settings = { learningRate: 0.1, steps: 1, beta: 0.1, loss: "sigmoid", labelSmoothing: 0 } as const;
    await trainer.preferenceStep?.([{ chosen: sequence, rejected: other, reference }], settings);
  });
  expect(forecast).toEqual(used);
});

test("prices come with the forecast", () => {
  const prices = { prefill: 1, sample: 2, train: 3, currency: "EUR" };
  const config = { server: "tinker", baseModel: "tiny", prices, learningRate: 1e-4, minibatchSize: 4 };
  expect(plugin.usage?.(config, step)).toMatchObject({ prices });
});
