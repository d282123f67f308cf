// The servers speak Tinker's wires (tests/support/tinker-server.ts), with the rules for numbers, repetitions and restarts
// and the reductions that SkyRL 0.4.0, TuFT 0.2.2 and hatchery-core 0.3.0 publish in their sources. No published server
// runs.
import { expect, test } from "vitest";
import plugin from "../../../../plugins/trainer-tinker/index.ts";
import type { ServedName } from "../../../support/served-arithmetic.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { type StartedServer, tinkerAttempts, updates } from "../../../support/tinker-attempts.ts";
import { trajectories } from "../../../support/training-batch.ts";

const { initial, at, started, attempt } = await tinkerAttempts(temporaryFolder());

const names: readonly ServedName[] = ["skyrl-jax", "tuft", "hatchery"];

test.each(names)("two steps on %s, over its wire", async (name) => {
  const on = await started(name);
  const first = await attempt(on, `${name}-1`);
  const second = await attempt(on, `${name}-2`, `${name}-1`);
  expect(first.gradientNorm).toBeGreaterThan(0);
  expect(second.approximateKl).toBeGreaterThan(0);
  expect(on.saved(`${name}-2`).state?.steps).toBe(2 * updates);
  expect([...on.server.models.keys()], "its models are released").toEqual([]);
});

test.each(names)(
  "a trainer that stays open saves what one saves that is opened for each step on %s",
  async (name) => {
    const on = await started(name);
    for (const [to, from] of [
      ["1", undefined],
      ["2", "1"],
      ["3", "2"],
    ] as const) {
      await attempt(on, `${name}-apart-${to}`, from && `${name}-apart-${from}`);
    }
    const trainer = await on.opened();
    for (const step of [1, 2, 3]) {
      await trainer.policyGradientStep(trajectories, { temperature: 1 });
      const version = `${name}-kept-${step}`;
      await trainer.save(at(`${version}-policy`), at(`${version}-state`));
      expect(on.saved(version).state, `step ${step}`).toEqual(on.saved(`${name}-apart-${step}`).state);
    }
    await trainer.close();
    expect(on.saved(`${name}-kept-3`).state?.steps).toBe(3 * updates);
  },
);

test("Hatchery forgets its checkpoints too if it keeps them in memory, so the run ends with a reason", async () => {
  const on = await started("hatchery");
  await attempt(on, "forgotten-1");
  await on.server.restart();
  const problem = attempt(on, "forgotten-2", "forgotten-1");
  await expect(problem).rejects.toMatchObject({
    code: "TINKER_REQUEST_REFUSED",
    message: expect.stringContaining("Checkpoint not found"),
  });
});

test("a call that Hatchery ran twice is found by its own counts", async () => {
  let isArmed = false;
  const on: StartedServer = await started("hatchery", ({ path }) => {
    if (isArmed && path === "optim_step") for (const model of on.server.models.values()) model.steps += 1;
    return undefined;
  });
  const problem = attempt(on, "counted", undefined, () => {
    isArmed = true;
  });
  await expect(problem).rejects.toMatchObject({
    code: "TINKER_MODEL_LOST",
    retryable: true,
    message: expect.stringMatching(/counts 2 optimizer steps of .* but received 1/),
  });
});

test("an answer that SkyRL's connection lost is asked for again, and the update happens once", async () => {
  const lost = new Set<string>();
  let isArmed = false;
  const on = await started("skyrl-jax", ({ path }) => {
    if (!isArmed || lost.has(path) || !["optim_step", "forward_backward"].includes(path)) return undefined;
    lost.add(path);
    return "after";
  });
  await attempt(on, "kept-1");
  isArmed = true;
  await attempt(on, "lost-1");
  expect([...lost].sort()).toEqual(["forward_backward", "optim_step"]);
  expect(on.saved("lost-1").state).toEqual(on.saved("kept-1").state);
});

test.each(names)("an update that fails on %s is repeated with its whole step", async (name) => {
  let isArmed = false;
  const failing = ({ path }: { path: string }) => {
    if (!isArmed || path !== "optim_step") return undefined;
    isArmed = false;
    return "no memory";
  };
  const on = await started(name, undefined, { failing });
  await attempt(on, `${name}-whole`);
  const problem = attempt(on, `${name}-failed`, undefined, () => {
    isArmed = true;
  });
  await expect(problem).rejects.toMatchObject({ code: "TINKER_MODEL_LOST", retryable: true });
  await attempt(on, `${name}-failed`);
  expect(on.saved(`${name}-failed`).state).toEqual(on.saved(`${name}-whole`).state);
});

test.each(["skyrl-jax", "tuft"] as const)(
  "%s computes its clipped loss in one pass an update",
  async (name) => {
    let passes = 0;
    const { server } = await started(name, ({ path }) => {
      if (path === "forward_backward") passes++;
      return undefined;
    });
    const config = { server: name, url: server.url, baseModel: "tiny", algorithm: "dapo", minibatchSize: 2 };
    const trainer = await plugin.open({ initial, policy: initial }, { ...config, learningRate: 0.01 }, 1);
    passes = 0;
    await trainer.policyGradientStep(trajectories, { temperature: 1 });
    expect(passes).toBe(updates);
    await trainer.close();
  },
);

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
