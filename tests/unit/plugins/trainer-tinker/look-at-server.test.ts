// The servers speak Tinker's wire (tests/support/tinker-server.ts). No published server runs.
import { createServer } from "node:http";
import type { JsonObject } from "everturn/engine";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import plugin from "../../../../plugins/trainer-tinker/index.ts";
import { resolveTraining } from "../../../../plugins/trainer-tinker/settings.ts";
import { onLoopback } from "../../../support/on-loopback.ts";
import { TinkerServer } from "../../../support/tinker-server.ts";
import { surroundings } from "../../../support/training-batch.ts";

afterEach(() => vi.unstubAllEnvs());

/** What a check before a run finds. */
async function found(given: JsonObject) {
  const { config } = resolveTraining(given, surroundings);
  const problems = (await plugin.check?.(config, surroundings)) ?? [];
  return {
    problems: problems.map(({ key, reason }) => `${key} ${reason}`),
    helps: problems.map(({ help }) => help),
    notes: problems.length > 0 ? [] : await plugin.notes?.(config),
  };
}

async function skyrl(): Promise<TinkerServer> {
  const server = await new TinkerServer({ numbering: "skyrl", baseModel: "Qwen/Qwen3-4B" }).start();
  onTestFinished(() => server.stop());
  return server;
}

test("a base model that the server does not serve is refused before the run, with the served names", async () => {
  const { url } = await skyrl();
  const given = { server: "skyrl-jax", url, baseModel: "qwen3-4b" };
  expect(await found({ ...given, baseModel: "Qwen/Qwen3-4B" })).toEqual({
    problems: [],
    helps: [],
    notes: [],
  });
  const { problems, helps } = await found(given);
  expect(problems).toEqual([`baseModel is qwen3-4b, but ${url} serves Qwen/Qwen3-4B`]);
  expect(helps).toEqual(["Use the server's own name of the model: Qwen/Qwen3-4B."]);
});

test("the check and the notes of a plan need one request, and the next plan asks again", async () => {
  const { url, calls } = await skyrl();
  const given = { server: "skyrl-jax", url, baseModel: "Qwen/Qwen3-4B" };
  await found(given);
  expect(calls.map(({ path }) => path)).toEqual(["get_server_capabilities"]);
  await found(given);
  expect(calls).toHaveLength(2);
});

test("a server that does not answer yet is a note, because it may start later", async () => {
  const { url, server } = await skyrl().then((one) => ({ url: one.url, server: one }));
  await server.stop();
  const { problems, notes } = await found({ server: "skyrl-jax", url, baseModel: "tiny" });
  expect(problems).toEqual([]);
  expect(notes).toEqual([
    `trainer.config.url: SkyRL on JAX did not list its models at ${url}: GET /api/v1/get_server_capabilities: no answer (ECONNREFUSED). The request did not reach a server. Check its address and whether it runs`,
  ]);
});

test("the service of Thinking Machines has a usual URL and a usual variable for the key", async () => {
  vi.stubEnv("TINKER_API_KEY", "");
  const given = { server: "tinker", baseModel: "Qwen/Qwen3-8B" };
  expect(resolveTraining(given, surroundings).config).toMatchObject({
    url: "https://tinker.thinkingmachines.dev/services/tinker-prod",
    apiKeyVariable: "TINKER_API_KEY",
  });
  expect(await found(given)).toMatchObject({
    problems: ["apiKeyVariable is TINKER_API_KEY, which the environment lacks"],
    helps: ["Set TINKER_API_KEY where the workers run, or remove apiKeyVariable."],
  });
  expect(await found({ ...given, apiKeyVariable: "OTHER_KEY_OF_A_TEST" })).toMatchObject({
    problems: ["apiKeyVariable is OTHER_KEY_OF_A_TEST, which the environment lacks"],
  });
  expect(await found({ server: "tuft", baseModel: "tiny" })).toMatchObject({
    problems: ["url is missing, and TuFT has no usual one"],
  });
});

test("a server gets its own key alone, and a key that it refuses is named by its variable", async () => {
  vi.stubEnv("TINKER_API_KEY", "tml-of-another-server");
  vi.stubEnv("OWN_KEY", "tml-own-secret");
  const keys: unknown[] = [];
  const url = await onLoopback(
    createServer(({ headers }, response) => {
      keys.push(headers["x-api-key"]);
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ detail: `Invalid API key ${headers["x-api-key"]}` }));
    }),
  );
  const given = { server: "tuft", url, baseModel: "tiny" };
  const missing = await found(given);
  const wrong = await found({ ...given, apiKeyVariable: "OWN_KEY" });
  expect(keys).toEqual([undefined, "tml-own-secret"]);
  expect(missing.problems).toEqual([`apiKeyVariable is missing, but ${url} requires a key`]);
  expect(wrong.problems).toEqual([`apiKeyVariable is OWN_KEY, whose key ${url} refuses`]);
});

test("a key that a server repeats in its answer is in no error", async () => {
  vi.stubEnv("OWN_KEY", "tml-own-secret");
  const url = await onLoopback(
    createServer(({ headers }, response) => {
      response.writeHead(403, { "content-type": "application/json" });
      response.end(JSON.stringify({ detail: `${headers["x-api-key"]} may not do this` }));
    }),
  );
  const config = { server: "tuft", url, baseModel: "tiny", apiKeyVariable: "OWN_KEY" };
  const problem = await plugin.open({ initial: "/none", policy: "/none" }, config, 1).catch((error) => error);
  expect(problem).toMatchObject({ code: "TINKER_REQUEST_REFUSED" });
  expect(problem.message).toContain("[API key] may not do this");
  expect(JSON.stringify([problem, problem.cause, problem.stack, problem.cause.stack])).not.toContain(
    "secret",
  );
});
