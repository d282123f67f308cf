// The servers speak Tinker's wire (tests/support/tinker-server.ts). Their rules for sampling and restarts are those that
// SkyRL 0.4.0 and TuFT 0.2.2 publish in their sources. No published server runs.
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { GenerationRequest, JsonObject, TrainerFolders } from "everturn/engine";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import plugin from "../../../../plugins/policy-tinker/index.ts";
import trainerPlugin from "../../../../plugins/trainer-tinker/index.ts";
import { serveArithmetic } from "../../../support/served-arithmetic.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { tinyModel } from "../../../support/tinker-arithmetic.ts";
import { stateOf } from "../../../support/tinker-server/arithmetic-model.ts";
import type { ServedCall } from "../../../support/tinker-server.ts";
import { writeTinyPolicy } from "../../../support/tiny-policy.ts";
import { trajectories } from "../../../support/training-batch.ts";

afterEach(() => vi.unstubAllEnvs());

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const model = at("model");
const vocabulary = await writeTinyPolicy(model);
rmSync(join(model, "model.safetensors")); // the server has the weights
const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const clean of cleanups.reverse()) await clean();
});

/** A request for an action after a prompt. */
function request(version: number, changes: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    tokens: [7, 5],
    version,
    sampling: { temperature: 1, maxTokens: 6 },
    key: { seed: 1, trajectory: "step-0001/task-1/0", turn: 0 },
    ...changes,
  };
}

type Name = "skyrl-jax" | "tuft";

let count = 0;

/** A server, an open policy, and a function that trains a version. */
async function opened(
  name: Name,
  hook: (call: ServedCall) => "before" | "after" | undefined = () => undefined,
) {
  const { server, states } = await serveArithmetic(name, vocabulary, { fault: hook });
  const own = at(`${name}-${++count}`);
  const settings = { server: name, url: server.url, baseModel: "tiny" };
  const config: JsonObject = { ...settings, model };
  const initial = join(own, "0", "policy");
  await plugin.initialize(initial, config, 1);
  const policy = await plugin.open(initial, config);
  cleanups.push(async () => {
    await policy.close();
    await server.stop();
  });
  const path = (version: number, part: string) => join(own, String(version), part);
  /** Trains a version from the one before it. */
  const train = async (version: number) => {
    const from: Partial<TrainerFolders> =
      version === 1 ? {} : { policy: path(version - 1, "policy"), state: path(version - 1, "trainer") };
    const training = { ...settings, warmupSteps: 1, learningRate: 0.5, minibatchSize: 2 };
    const trainer = await trainerPlugin.open({ initial, policy: initial, ...from }, training, 1);
    await trainer.policyGradientStep(trajectories, { temperature: 1 });
    await trainer.save(path(version, "policy"), path(version, "trainer"));
    await trainer.close();
  };
  const load = (version: number) => policy.load(version, path(version, "policy"));
  /** The weights of a version on the server. */
  const weights = (version: number) => {
    const { path: saved } = JSON.parse(readFileSync(join(path(version, "policy"), "tinker.json"), "utf8"));
    return saved && stateOf(states, server.checkpoints.get(saved)!.history);
  };
  return { server, policy, train, load, weights, path };
}

/** The log-probabilities of an action's tokens with some weights. */
function logprobsOf(
  weights: ReturnType<typeof stateOf>,
  prompt: readonly number[],
  tokens: readonly number[],
) {
  const row = [...prompt.slice(-1), ...tokens];
  return [...tinyModel(vocabulary, weights).forward(row.slice(0, -1), row.slice(1))];
}

function expectClose(numbers: readonly number[], expected: readonly number[]) {
  expect(numbers.length).toBe(expected.length);
  for (const [index, value] of numbers.entries()) expect(value).toBeCloseTo(expected[index]!, 5);
}

test.each(["skyrl-jax", "tuft"] as const)(
  "on %s, each version's actions and log-probabilities are those of its weights",
  async (name) => {
    const { policy, train, load, weights } = await opened(name);
    for (const version of [1, 2]) await train(version);
    const actions: number[][] = [];
    for (const version of [0, 1, 2]) {
      expect(policy.isLoaded(version)).toBe(false);
      await load(version);
      const { tokens, logprobs, temperedLogprobs, samplingLogprobs } = await policy.generate(
        request(version),
      );
      expectClose(logprobs, logprobsOf(weights(version), [5], tokens));
      expect([temperedLogprobs, samplingLogprobs]).toEqual([logprobs, logprobs]);
      actions.push(tokens);
    }
    for (const version of [2, 0, 1]) {
      const again = await policy.generate(request(version));
      expect(again.tokens, "equal keys draw equal tokens").toEqual(actions[version]);
    }
    const other = { seed: 1, trajectory: "step-0001/task-1/1", turn: 0 };
    const { tokens } = await policy.generate(request(1, { key: other }));
    expect(tokens).not.toEqual(actions[1]);
  },
);

test("sampling an old version leaves the weights alone that are trained meanwhile", async () => {
  const [sampled, undisturbed] = [await opened("skyrl-jax"), await opened("skyrl-jax")];
  for (const { train } of [sampled, undisturbed]) await train(1);
  await sampled.load(1);
  await sampled.policy.generate(request(1));
  const training = sampled.train(2);
  await Promise.all([1, 2, 3].map(() => sampled.policy.generate(request(1))));
  await Promise.all([training, undisturbed.train(2)]);
  expect(sampled.weights(2)).toEqual(undisturbed.weights(2));
  const { tokens, logprobs } = await sampled.policy.generate(request(1));
  expectClose(logprobs, logprobsOf(sampled.weights(1), [5], tokens));
});

test.each(["skyrl-jax", "tuft"] as const)(
  "after a restart of %s the same actions are drawn again",
  async (name) => {
    const { server, policy, train, load } = await opened(name);
    await train(1);
    for (const version of [0, 1]) await load(version);
    const before = await Promise.all([0, 1].map((version) => policy.generate(request(version))));
    await server.restart();
    const generated = async (version: number) => {
      const outcome = await policy.generate(request(version)).catch((error: unknown) => error);
      if (!(outcome instanceof Error)) return outcome;
      expect(outcome).toMatchObject({ code: "TINKER_MODEL_LOST", retryable: true });
      return policy.generate(request(version));
    };
    expect(await Promise.all([generated(0), generated(1)])).toEqual(before);
  },
);

test("a group's actions after one prompt are one request, and the same as alone", async () => {
  const { policy, load, server } = await opened("skyrl-jax");
  await load(0);
  const ofPlace = (place: number, tokens = [7, 5]) =>
    policy.generate(
      request(0, { tokens, key: { seed: 1, trajectory: `step-0001/task-1/${place}`, turn: 0 } }),
    );
  const alone = [await ofPlace(0), await ofPlace(1), await ofPlace(2), await ofPlace(3)];
  const before = server.calls.length;
  const together = await Promise.all([3, 1, 0].map((place) => ofPlace(place)));
  expect(together).toEqual([alone[3], alone[1], alone[0]]);
  expect(new Set(alone.map(({ text }) => text)).size).toBe(4);
  const sent = server.calls.slice(before).filter(({ path }) => path === "asample");
  expect(sent.length, "the places 0 and 1, and place 3").toBe(2);
  await Promise.all([ofPlace(0), ofPlace(1, [8, 5])]);
  expect(
    server.calls.filter(({ path }) => path === "asample"),
    "other prompts",
  ).toHaveLength(4 + 2 + 2);
});

test("one of a group may leave, and the others get their actions", async () => {
  const { policy, load } = await opened("skyrl-jax");
  await load(0);
  const ofPlace = (place: number, { signal } = new AbortController()) => {
    const key = { seed: 1, trajectory: `step-0001/task-1/${place}`, turn: 0 };
    return policy.generate(request(0, { key, signal }));
  };
  const alone = await ofPlace(1);
  const leaving = new AbortController();
  const gone = ofPlace(0, leaving);
  const stayed = ofPlace(1);
  leaving.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  expect(await stayed).toEqual(alone);
});

test("a lost answer is asked for again, and breaks nothing", async () => {
  let isLost = false;
  const { policy, load, server } = await opened("skyrl-jax", ({ path }) => {
    if (path !== "asample" || isLost) return undefined;
    isLost = true;
    return "after";
  });
  await load(0);
  const { tokens } = await policy.generate(request(0));
  expect(tokens).toHaveLength(6);
  expect(server.calls.filter(({ path }) => path === "asample")).toHaveLength(2);
});

test("an action ends at the limit, after a stop token, and after a stop text, whose tokens are kept", async () => {
  const { policy, load } = await opened("skyrl-jax");
  await load(0);
  const whole = await policy.generate(request(0));
  expect(whole.finishReason).toBe("length");
  const cut = (changes: Partial<GenerationRequest["sampling"]>) =>
    policy.generate(request(0, { sampling: { temperature: 1, maxTokens: 6, ...changes } }));
  const short = await cut({ maxTokens: 2 });
  expect(short).toMatchObject({ tokens: whole.tokens.slice(0, 2), finishReason: "length" });
  const third = whole.tokens[2]!;
  const stopped = await cut({ stopTokens: [third] });
  const end = whole.tokens.indexOf(third) + 1;
  expect(stopped).toMatchObject({ tokens: whole.tokens.slice(0, end), finishReason: "stop" });
  expect(stopped.logprobs).toEqual(whole.logprobs.slice(0, end));
  const text = whole.text.slice(2, 4);
  const byText = await cut({ stop: [text] });
  expect(byText).toMatchObject({ finishReason: "stop", text: whole.text.slice(0, whole.text.indexOf(text)) });
  expect(whole.tokens.slice(0, byText.tokens.length)).toEqual(byText.tokens);
  const full = await policy.generate(request(0, { tokens: Array(32).fill(5) }));
  expect(full).toMatchObject({ tokens: [], finishReason: "length" });
});

test("greedy actions are the likeliest tokens, and no other temperature than 1 is sampled", async () => {
  const { policy, load } = await opened("skyrl-jax");
  await load(0);
  const greedy = { temperature: 0, maxTokens: 3 };
  const one = await policy.generate(request(0, { sampling: greedy }));
  const key = { seed: 9, trajectory: "another", turn: 3 };
  const two = await policy.generate(request(0, { sampling: greedy, key }));
  expect(two.tokens).toEqual(one.tokens);
  expect(one.samplingLogprobs).toEqual([0, 0, 0]);
  const warm = policy.generate(request(0, { sampling: { temperature: 0.7, maxTokens: 3 } }));
  await expect(warm).rejects.toMatchObject({ code: "ENGINE_SAMPLING" });
});

test("the server keeps the models of at most four versions, and none of a closed policy", async () => {
  const { server, policy, path, load, train } = await opened("skyrl-jax");
  await train(1);
  for (const version of [2, 3, 4, 5, 6]) cpSync(path(1, ""), path(version, ""), { recursive: true });
  for (const version of [1, 2, 3, 4, 5, 6]) await load(version);
  expect(server.models.size).toBe(4);
  const { tokens } = await policy.generate(request(1));
  expect((await policy.generate(request(6))).tokens).toEqual(tokens);
  expect(server.models.size).toBe(4);
  await policy.close();
  expect(server.models.size).toBe(0);
});

test("a request that nobody waits for ends with its reason, and one of a closed policy with POLICY_CLOSED", async () => {
  const { policy, load } = await opened("skyrl-jax");
  await load(0);
  const reason = new Error("enough");
  await expect(policy.generate(request(0, { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
  const onBegin = () => {
    throw new Error("not now");
  };
  await expect(policy.generate(request(0, { onBegin }))).rejects.toThrow("not now");
  expect((await policy.generate(request(0))).tokens).toHaveLength(6);
  await policy.close();
  await expect(policy.generate(request(0))).rejects.toMatchObject({ code: "POLICY_CLOSED" });
});

test("what can't be sampled is refused by name", async () => {
  const { policy } = await opened("skyrl-jax");
  const unusable = { code: "TINKER_VERSION_UNUSABLE" };
  await expect(policy.load(1, model)).rejects.toMatchObject(unusable);
  const other = await opened("tuft");
  await expect(policy.load(1, other.path(0, "policy"))).rejects.toThrow("those of tiny on the server tuft");
  await expect(policy.generate(request(3))).rejects.toMatchObject({ code: "POLICY_VERSION_NOT_LOADED" });
  const check = (server: string) =>
    plugin.check?.({ server, url: "http://127.0.0.1:1", baseModel: "tiny", model });
  vi.stubEnv("TINKER_API_KEY", "");
  expect(plugin.check?.({ server: "tinker", baseModel: "tiny", model })).toMatchObject([
    { key: "apiKeyVariable", reason: "is TINKER_API_KEY, which the environment lacks" },
  ]);
  expect(plugin.check?.({ server: "tuft", baseModel: "tiny", model })).toMatchObject([{ key: "url" }]);
  vi.stubEnv("TINKER_API_KEY", "tml-key");
  for (const server of ["tinker", "skyrl-jax", "skyrl-torch", "tuft", "verl-tinker"])
    expect(check(server), server).toEqual([]);
  expect(check("hatchery")).toMatchObject([{ key: "server", reason: expect.stringContaining("likeliest") }]);
  expect(check("twinkle")).toMatchObject([{ key: "server" }]);
});

test("version 0 has the model's files but no weights, and opening it sends nothing", async () => {
  const { server, policy, path } = await opened("skyrl-jax");
  const files = readdirSync(path(0, "policy")).sort();
  expect(files).toEqual([
    "config.json",
    "generation_config.json",
    "tinker.json",
    "tokenizer.json",
    "tokenizer_config.json",
  ]);
  const { text } = policy.framePrompt([{ role: "user", content: "2 + 2 =" }], []);
  expect(text).toContain("2 + 2 =");
  expect(server.calls).toEqual([]);
  const framing = await plugin.framing?.({ model });
  expect(framing?.contextLength).toBe(32);
});
