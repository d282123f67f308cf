// The servers here are tiny ones in this process (tests/support/tiny-server.ts), written from the published behavior of
// Tinker's API, SkyRL 0.4.0 on JAX and hatchery-core 0.3.0. No published server runs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, Trainer, TrainerFolders } from "everturn/engine";
import { afterEach, expect, test, vi } from "vitest";
import plugin from "../../../../plugins/trainer-tinker/index.ts";
import { openTrainer } from "../../../../plugins/trainer-tinker/open-trainer.ts";
import { profiles, type ServerName } from "../../../../plugins/trainer-tinker/profiles.ts";
import { readConfig, resolveTraining } from "../../../../plugins/trainer-tinker/settings.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { type TinyState, weightDifference } from "../../../support/tinker-arithmetic.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";
import { type TinyServer, tinyServer } from "../../../support/tiny-server.ts";
import { surroundings, unevenTrajectories as trajectories } from "../../../support/training-batch.ts";

afterEach(() => vi.unstubAllEnvs());

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const initial = at("v0000");
const vocabulary = await writeTinyPolicy(initial);

/** A resolved configuration. */
function configOf(server: ServerName, changes: JsonObject = {}) {
  const given = { server, url: "http://127.0.0.1:1", baseModel: "tiny", warmupSteps: 1, ...changes };
  return readConfig(resolveTraining(given, surroundings).config);
}

function serverOf(name: ServerName): TinyServer {
  const { crossEntropy: reduction, gradientNorm, clips, savesOnce = false } = profiles[name];
  return tinyServer({ vocabulary, reduction, clips, savesOnce, ...(gradientNorm && { gradientNorm }) });
}

function opened(
  server: TinyServer,
  name: ServerName,
  changes: JsonObject = {},
  folders: Partial<TrainerFolders> = {},
) {
  return openTrainer({
    server,
    folders: { initial, policy: initial, ...folders },
    config: configOf(name, changes),
    seed: 1,
    loss: undefined,
  });
}

const step = { temperature: 1 };

/** The newest checkpoint of a server. */
function newest({ checkpoints }: TinyServer): TinyState {
  const states = [...checkpoints.values()];
  return states.at(-1)!;
}

const kl = { klCoefficient: 0.1, klIn: "loss", learningRate: 0.01, minibatchSize: 2 };

test.each(["skyrl-jax", "skyrl-torch", "tuft", "verl-tinker", "hatchery"] as const)(
  "%s and a server of plain sums learn the same weights, in few calls and in many",
  async (name) => {
    const trained: TinyState[] = [];
    const metrics: object[] = [];
    for (const [server, callTokens] of [
      ["tinker", 1000],
      [name, 1000],
      [name, 7],
    ] as const) {
      const tiny = serverOf(server);
      // The largest norm is never reached, because SkyRL does not clip.
      const clip = profiles[server].clips ? { gradientClip: 1e6 } : {};
      const trainer = await opened(tiny, server, { ...kl, ...clip, callTokens });
      metrics.push(await trainer.policyGradientStep(trajectories, step));
      metrics.push(await trainer.policyGradientStep(trajectories, step));
      await trainer.save(at(`${name}-${callTokens}-policy`), at(`${name}-${callTokens}-state`));
      await trainer.close();
      trained.push(newest(tiny));
    }
    const [usual, ...others] = trained;
    expect(usual!.steps).toBe(4);
    for (const one of others) expect(weightDifference(usual!, one)).toBeLessThan(1e-6);
    const { kl: measured } = Object(metrics[1]);
    expect(measured).toBeGreaterThan(0);
    expect(Object(metrics[3]).kl).toBeCloseTo(measured, 6);
  },
);

test.each(["tinker", "skyrl-jax", "skyrl-torch", "tuft"] as const)(
  "the clipped loss of %s teaches the same as its gradient, in half the passes",
  async (name) => {
    const settings = {
      algorithm: "dapo",
      learningRate: 0.1,
      epochs: 3,
      minibatchSize: 2,
      importanceCorrection: "token-mask",
    };
    const trained: TinyState[] = [];
    const metrics: object[] = [];
    const passes: number[] = [];
    for (const ppo of [undefined, { clip_low_threshold: 0.8, clip_high_threshold: 1.2 }]) {
      const { crossEntropy: reduction, gradientNorm, clips } = profiles[name];
      const tiny = tinyServer({
        vocabulary,
        reduction,
        clips,
        ...(gradientNorm && { gradientNorm }),
        ...(ppo && { ppo }),
      });
      for (const callTokens of [1000, 7]) {
        const trainer = await opened(tiny, name, { ...settings, callTokens });
        const before = tiny.calls.length;
        metrics.push(await trainer.policyGradientStep(trajectories, step));
        if (callTokens === 1000) {
          passes.push(tiny.calls.slice(before).filter((call) => call.includes("forward")).length);
        }
        await trainer.save(at("own-policy"), at("own-state"));
        await trainer.close();
        trained.push(newest(tiny));
      }
    }
    const [usual, ...others] = trained;
    for (const one of others) expect(weightDifference(usual!, one)).toBeLessThan(1e-5);
    for (const one of metrics) {
      for (const [key, value] of Object.entries(metrics[0]!))
        expect(Object(one)[key], key).toBeCloseTo(value, 4);
    }
    expect(Object(metrics[0]).clipFraction).toBeGreaterThan(0);
    expect(passes, "one for the scores before the step, and one or two for each update").toEqual([7, 13]);
  },
);

test.each(["skyrl-jax", "hatchery"] as const)(
  "saved and opened again on %s, it continues as if it had never stopped",
  async (name) => {
    const settings = { ...kl, klTarget: 0.01, klHorizon: 10, rewardNormalization: "scale", epochs: 2 };
    const server = serverOf(name);
    const folders = { policy: at(`${name}-first-policy`), state: at(`${name}-first-state`) };
    const whole = await opened(server, name, settings);
    await whole.policyGradientStep(trajectories, step);
    await whole.save(folders.policy, folders.state);
    const metrics = await whole.policyGradientStep(trajectories, step);
    await whole.save(at(`${name}-whole-policy`), at(`${name}-whole-state`));
    const undisturbed = newest(server);

    const again = await opened(server, name, settings, folders);
    expect(await again.policyGradientStep(trajectories, step)).toEqual(metrics);
    await again.save(at(`${name}-again-policy`), at(`${name}-again-state`));
    expect(newest(server)).toEqual(undisturbed);
    const counters = (state: string) =>
      JSON.parse(readFileSync(join(at(state), "state.json"), "utf8")).counters;
    expect(counters(`${name}-again-state`)).toEqual(counters(`${name}-whole-state`));

    const fresh = await opened(server, name, settings, { policy: folders.policy });
    await fresh.save(at(`${name}-fresh-policy`), at(`${name}-fresh-state`));
    expect(newest(server).steps, "without a state, the optimizer starts fresh").toBe(0);
  },
);

test("a server that loses its models at any call costs a repetition, never an update", async () => {
  const undisturbed = serverOf("hatchery");
  const folders = { policy: at("lost-policy"), state: at("lost-state") };
  const attempt = async (server: TinyServer, from: Partial<TrainerFolders>, name: string) => {
    const trainer = await opened(server, "hatchery", kl, from);
    await trainer.policyGradientStep(trajectories, step);
    await trainer.save(at(`${name}-policy`), at(`${name}-state`));
  };
  await attempt(undisturbed, {}, "lost");
  const start = new Map(undisturbed.checkpoints);
  const before = undisturbed.calls.length;
  await attempt(undisturbed, folders, "kept");
  const expected = newest(undisturbed);
  const calls = undisturbed.calls.length - before;

  let failures = 0;
  for (let lostAt = 1; ; lostAt++) {
    const server = serverOf("hatchery");
    for (const [path, state] of start) server.checkpoints.set(path, state);
    let count = 0;
    server.before = () => {
      if (++count === lostAt) server.forget();
    };
    const outcome = await attempt(server, folders, "repeated").catch((error: unknown) => error);
    if (outcome === undefined) break;
    failures++;
    expect(outcome).toMatchObject({ code: "TINKER_MODEL_LOST", retryable: true });
    await attempt(server, folders, "repeated");
    expect(newest(server)).toEqual(expected);
  }
  expect(failures, "each call of an attempt was the lost one").toBe(calls);
});

test("a version has version 0's files, and a pointer in place of weights", async () => {
  const server = serverOf("tuft");
  const trainer = await opened(server, "tuft");
  await trainer.policyGradientStep(trajectories, step);
  await trainer.save(at("files-policy"), at("files-state"));
  const files = readdirSync(initial).filter((name) => name !== "model.safetensors");
  expect(readdirSync(at("files-policy")).sort()).toEqual([...files, "tinker.json"].sort());
  const read = (file: string): JsonObject => JSON.parse(readFileSync(at(file), "utf8"));
  const [path] = server.checkpoints.keys();
  expect(read("files-policy/tinker.json")).toEqual({
    server: "tuft",
    url: "http://127.0.0.1:1",
    baseModel: "tiny",
    path,
    lora: { rank: 32, attention: true, mlp: true, unembedding: false },
  });
  const { model, numbers } = read("files-state/state.json");
  const own = server.calls.filter((call) => call.startsWith(`${model}:`));
  expect(numbers).toEqual({ first: 1, last: own.length });
  expect(own.at(-1)).toBe(`${model}: save_weights ${own.length}`);
});

test("each saved version names its server's model, requests and checkpoints, which follow each other", async () => {
  const server = serverOf("skyrl-jax");
  const first = await opened(server, "skyrl-jax");
  expect(first.serverStep?.()).toBeUndefined();
  const steps: unknown[] = [];
  const trained = async (trainer: Trainer, version: number) => {
    await trainer.policyGradientStep(trajectories, step);
    await trainer.save(at(`steps-${version}-policy`), at(`steps-${version}-state`));
    steps.push(trainer.serverStep?.());
  };
  await trained(first, 1);
  await trained(first, 2);
  await trained(
    await opened(server, "skyrl-jax", {}, { policy: at("steps-2-policy"), state: at("steps-2-state") }),
    3,
  );
  const [one, two, three] = [...server.checkpoints.keys()];
  const url = "http://127.0.0.1:1";
  const requests = (model: string, from: number) => ({
    model,
    // An update is a forward pass, a backward pass and an optimizer step; then the checkpoint is saved.
    requests: { first: from, last: from + 3 },
  });
  expect(steps).toEqual([
    { url, ...requests("model_2", 1), checkpoint: one },
    { url, ...requests("model_2", 5), checkpoint: two },
    { url, ...requests("model_5", 1), loaded: two, checkpoint: three },
  ]);
});

test("demonstrations and pairs lower their losses", async () => {
  const trainer = await opened(serverOf("skyrl-jax"), "skyrl-jax");
  const demonstrations = [
    { tokens: [5, 6, 7, 8], mask: [0, 0, 1, 1] },
    { tokens: [5, 7, 9], mask: [0, 1, 1] },
  ];
  const [chosen, rejected] = demonstrations;
  const supervised = { learningRate: 0.1, steps: 4 };
  const before = await trainer.supervisedStep(demonstrations, supervised);
  const after = await trainer.supervisedStep(demonstrations, supervised);
  expect(after.loss).toBeLessThan(before.loss - 0.05);
  const [one, other] = await trainer.score!([chosen!, rejected!], "reference");
  const pair = { chosen: chosen!, rejected: rejected!, reference: { chosen: one!, rejected: other! } };
  const settings = { ...supervised, beta: 0.5, loss: "sigmoid", labelSmoothing: 0 } as const;
  const first = await trainer.preferenceStep!([pair], settings);
  const second = await trainer.preferenceStep!([pair], settings);
  expect(second.margin).toBeGreaterThan(first.margin);
});

test("what a server can't do is refused by name, before a run or when the trainer opens", async () => {
  const keys = async (server: ServerName, changes: JsonObject = {}) => {
    const given = JSON.parse(JSON.stringify({ ...configOf(server), ...changes }));
    const problems = (await plugin.check?.(given, surroundings)) ?? [];
    return problems.map(({ key, reason }) => `${key} ${reason}`);
  };
  vi.stubEnv("TINKER_API_KEY", "key");
  for (const name of Object.keys(profiles)) {
    if (name !== "twinkle") expect(await keys(name as ServerName), name).toEqual([]);
  }
  expect(await keys("twinkle")).toEqual([
    expect.stringMatching(/^server is twinkle, on which no loss is exact: .*clips/),
  ]);
  expect(await keys("skyrl-jax", { gradientClip: 1 })).toEqual([
    "gradientClip is 1, but SkyRL on JAX ignores it",
  ]);
  expect(await keys("skyrl-jax", { weightDecay: 0.1 })).toEqual([
    "weightDecay is 0.1, but SkyRL on JAX would shrink the adapters of all models, the reference's included",
  ]);
  expect(await keys("skyrl-jax", { weightDecay: 0 })).toEqual([]);
  expect(await keys("hatchery", { learningRate: 11 })).toEqual([
    "learningRate is 11, but Hatchery accepts at most 10",
  ]);
  expect(await keys("tuft", { algorithm: "ppo" })).toEqual([]);
  expect(await keys("tuft", { algorithm: "ppo", critic: "head" })).toEqual([
    expect.stringMatching(/^critic is head, but .*hidden states/),
  ]);
  expect(await keys("tuft", { critic: "model" })).toEqual([
    "critic is model, but advantages is group-mean, which has no values",
  ]);
  expect(await keys("tuft", { algorithm: "ppo", criticModel: initial, criticArchitecture: {} })).toEqual([
    "criticArchitecture is there, but criticModel brings its own",
  ]);
  expect(await keys("tuft", { entropyCoefficient: 0.1 })).toEqual([
    expect.stringMatching(/^entropyCoefficient is 0.1, but .*single tokens$/),
  ]);
  expect(await keys("tuft", { sampledEntropyCoefficient: 0.1 })).toEqual([]);
  expect(configOf("tuft", { algorithm: "ppo", criticModel: initial }).valueLearningRate).toBe(1e-5);
  expect(configOf("tuft", { algorithm: "ppo" }).valueLearningRate).toBeUndefined();
  expect(configOf("tuft").gradientClip).toBe(1);
  expect(configOf("skyrl-jax").gradientClip).toBeUndefined();
  await expect(opened(serverOf("twinkle"), "twinkle")).rejects.toMatchObject({
    code: "TINKER_SERVER_REFUSED",
  });
});

test("a step that needs more than log-probabilities at temperature 1 changes nothing", async () => {
  const server = serverOf("tinker");
  const trainer = await opened(server, "tinker");
  const calls = server.calls.length;
  const problem = trainer.policyGradientStep(trajectories, { temperature: 0.7 });
  await expect(problem).rejects.toMatchObject({ code: "TRAINING_REMOTE_LACKS" });
  expect(server.calls.length).toBe(calls);
});
