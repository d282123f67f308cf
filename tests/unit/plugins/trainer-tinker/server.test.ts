// The servers speak Tinker's wire (tests/support/tinker-server.ts), with the rules for numbers, repetitions and restarts
// and the reductions that SkyRL 0.4.0 and TuFT 0.2.2 publish in their sources. No published server runs.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TrainerFolders, TrainingTrajectory } from "everturn/engine";
import { afterAll, expect, test } from "vitest";
import plugin from "../../../../plugins/trainer-tinker/index.ts";
import { profiles } from "../../../../plugins/trainer-tinker/profiles.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import {
  ArithmeticModel,
  stateOf,
  type WeightsByHistory,
} from "../../../support/tinker-server/arithmetic-model.ts";
import { type ServedCall, TinkerServer } from "../../../support/tinker-server.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const initial = at("v0000");
const vocabulary = await writeTinyPolicy(initial);
const servers: TinkerServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.stop();
});

const trajectories: TrainingTrajectory[] = [1, 0, 0.5, 0.25].map((reward, index) => ({
  id: `run/step-0001/task-${index}/0`,
  group: `task-${index % 2}`,
  reward,
  tokens: [5, 6 + index, 9, 4],
  mask: [0, 1, 0, 1],
  logprobs: [0, -5, 0, -5.5],
}));

type Name = "skyrl-jax" | "tuft";

/** Starts a server with real arithmetic. `hook` sees each request first, and may break its connection. */
async function started(
  name: Name,
  hook: (call: ServedCall) => "before" | "after" | undefined = () => undefined,
) {
  const states: WeightsByHistory = new Map();
  const server = new TinkerServer({
    numbering: name === "tuft" ? "tuft" : "skyrl",
    newModel: (...given) => new ArithmeticModel(profiles[name], { vocabulary, states }, ...given),
    fault: hook,
  });
  servers.push(server);
  await server.start();
  const opened = (folders: Partial<TrainerFolders> = {}) => {
    const config = {
      server: name,
      url: server.url,
      baseModel: "tiny",
      warmupSteps: 1,
      learningRate: 0.01,
      minibatchSize: 2,
    };
    return plugin.open({ initial, policy: initial, ...folders }, config, 1);
  };
  /** The weights and the optimizer's state of a saved version. */
  const saved = (version: string) => {
    const { path } = JSON.parse(readFileSync(join(at(`${version}-policy`), "tinker.json"), "utf8"));
    return stateOf(states, server.checkpoints.get(path)!.history);
  };
  return { server, opened, saved };
}

type Started = Awaited<ReturnType<typeof started>>;

/** One attempt at a step, from one version to another. `onOpened` is called after the probe. */
async function attempt({ opened }: Started, to: string, from?: string, onOpened = () => {}) {
  const folders = from === undefined ? {} : { policy: at(`${from}-policy`), state: at(`${from}-state`) };
  const trainer = await opened(folders);
  try {
    onOpened();
    const metrics = await trainer.policyGradientStep(trajectories, { temperature: 1 });
    await trainer.save(at(`${to}-policy`), at(`${to}-state`));
    return metrics;
  } finally {
    await trainer.close();
  }
}

test.each(["skyrl-jax", "tuft"] as const)("two steps on %s, over its wire", async (name) => {
  const on = await started(name);
  const first = await attempt(on, `${name}-1`);
  const second = await attempt(on, `${name}-2`, `${name}-1`);
  expect(first.gradientNorm).toBeGreaterThan(0);
  expect(second.approximateKl).toBeGreaterThan(0);
  expect(on.saved(`${name}-2`)?.steps).toBe(4);
  expect([...on.server.models.keys()], "its models are released").toEqual([]);
});

test.each([
  ["skyrl-jax", "optim_step"],
  ["skyrl-jax", "forward_backward"],
  ["tuft", "optim_step"],
  ["tuft", "forward_backward"],
  ["tuft", "save_weights"],
] as const)("a restart of %s at %s costs a repetition, never an update", async (name, path) => {
  let isArmed = false;
  let restarted: Promise<void> | undefined;
  const on: Started = await started(name, (call) => {
    if (!isArmed || call.path !== path) return undefined;
    isArmed = false;
    restarted = on.server.restart();
    return "before";
  });
  const version = (number: string) => `${name}-${path}-${number}`;
  await attempt(on, version("1"));
  await attempt(on, version("2"), version("1"));
  const problem = attempt(on, version("lost"), version("1"), () => {
    isArmed = true;
  });
  await expect(problem).rejects.toMatchObject({ code: "TINKER_MODEL_LOST", retryable: true });
  await restarted;
  await attempt(on, version("3"), version("1"));
  expect(on.saved(version("3"))).toEqual(on.saved(version("2")));
});

test("an answer that SkyRL's connection lost is asked for again, and the update happens once", async () => {
  const lost = new Set<string>();
  let isArmed = false;
  const on: Started = await started("skyrl-jax", ({ path }) => {
    if (!isArmed || lost.has(path) || !["optim_step", "forward_backward"].includes(path)) return undefined;
    lost.add(path);
    return "after";
  });
  await attempt(on, "kept-1");
  isArmed = true;
  await attempt(on, "lost-1");
  expect([...lost].sort()).toEqual(["forward_backward", "optim_step"]);
  expect(on.saved("lost-1")).toEqual(on.saved("kept-1"));
});

test("an unknown base model is refused, and so is a step after the trainer closed", async () => {
  const { server, opened } = await started("skyrl-jax");
  const config = { server: "skyrl-jax", url: server.url, baseModel: "nope", warmupSteps: 1 };
  const problem = plugin.open({ initial, policy: initial }, config, 1);
  await expect(problem).rejects.toMatchObject({ code: "TINKER_REQUEST_REFUSED" });
  const trainer = await opened();
  await trainer.close();
  const late = trainer.policyGradientStep(trajectories, { temperature: 1 });
  await expect(late).rejects.toMatchObject({ code: "TRAINER_CLOSED" });
});
