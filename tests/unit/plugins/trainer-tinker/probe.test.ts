import { expect, test } from "vitest";
import { probeServer } from "../../../../plugins/trainer-tinker/probe.ts";
import { profiles, type ServerName } from "../../../../plugins/trainer-tinker/profiles.ts";
import { type TinyServerOptions, tinyServer } from "../../../support/tiny-server.ts";

const vocabulary = 23;

/** Probes a tiny server that computes as the profile says, except for the changes. */
async function probe(name: ServerName, changes: Partial<TinyServerOptions> = {}) {
  const profile = profiles[name];
  const { crossEntropy: reduction, gradientNorm } = profile;
  const server = tinyServer({ vocabulary, reduction, ...(gradientNorm && { gradientNorm }), ...changes });
  const confirmed = await probeServer({ profile, model: await server.create() }, vocabulary);
  return { calls: server.calls, confirmed };
}

const names = Object.keys(profiles).filter((name): name is ServerName => name !== "twinkle");

test.each(names)("a server that computes as %s passes", async (name) => {
  const { calls, confirmed } = await probe(name);
  expect(calls.length).toBeLessThan(100);
  expect(confirmed).toEqual(profiles[name]);
});

test.each(names.filter((name) => profiles[name].clippedLoss !== undefined))(
  "%s keeps its way if its own clipped loss ignores the limits",
  async (name) => {
    const fixed = { clip_low_threshold: 0.8, clip_high_threshold: 1.2 };
    const { confirmed } = await probe(name, { ppo: fixed });
    const { clippedLoss: _, ...others } = profiles[name];
    expect(confirmed).toEqual(others);
  },
);

test("a server whose model has fewer tokens than the policy is refused", async () => {
  const profile = profiles["skyrl-jax"];
  const server = tinyServer({ vocabulary, reduction: profile.crossEntropy });
  await expect(probeServer({ profile, model: await server.create() }, vocabulary + 1)).rejects.toMatchObject({
    code: "TINKER_VOCABULARY_UNFIT",
    params: { token: vocabulary, vocabulary: vocabulary + 1 },
  });
});

test("gradients that a lost model left are neither measured nor passed on", async () => {
  const { crossEntropy: reduction, gradientNorm } = profiles["skyrl-jax"];
  const server = tinyServer({ vocabulary, reduction, ...(gradientNorm && { gradientNorm }) });
  const model = await server.create();
  const columns = { weights: Float32Array.of(1, 1) };
  await model.forwardBackward([{ inputs: [5, 6], targets: [6, 7], columns }], "cross_entropy");
  await probeServer({ profile: profiles["skyrl-jax"], model }, vocabulary);
  const changes = server.calls.filter((call) => !call.includes(": forward "));
  expect(changes.at(-1), "clears what was added").toContain("optim_step");
});

test.each([
  ["tinker", "sequence-mean"],
  ["tinker", "call-mean"],
  ["tuft", "unweighted"],
  ["skyrl-torch", "sequence-mean"],
  ["skyrl-torch", "call-mean"],
  ["skyrl-jax", "sum"],
  ["skyrl-jax", "call-mean"],
] as const)("a server called %s that takes the %s is refused", async (name, reduction) => {
  await expect(probe(name, { reduction })).rejects.toMatchObject({
    code: "TINKER_PROFILE_MISMATCH",
    params: { server: profiles[name].title },
  });
});

test.each([
  ["tinker", -1],
  ["skyrl-jax", -1],
  ["skyrl-jax", 2],
  ["skyrl-jax", 0.5],
  ["hatchery", -1],
  ["hatchery", 0],
] as const)("%s is refused if it multiplies gradients by %d", async (name, factor) => {
  const problem = probe(name, { factor });
  if (name === "skyrl-jax") await expect(problem).rejects.toThrow("along a gradient of two tokens");
  await expect(problem).rejects.toMatchObject({ code: "TINKER_PROFILE_MISMATCH" });
});

test("the message has the measured and the expected number", async () => {
  const message =
    /SkyRL on PyTorch does not compute .*: the norm of the negative gradient is \d\S*, not \d\S*\./;
  await expect(probe("skyrl-torch", { reduction: "call-mean" })).rejects.toThrow(message);
});
