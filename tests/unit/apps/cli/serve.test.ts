import { writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { expect, onTestFinished, test, vi } from "vitest";
import { loadPlan } from "../../../../src/plan/pipeline/load-plan.ts";
import { createRunFolder } from "../../../../src/run/folder/create-run-folder.ts";
import { openRunFolder } from "../../../../src/run/folder/open-runs.ts";
import { everturn, killIfRunning, startWith } from "../../../support/command.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { folderOf, initializeVersion } from "../../../support/versions.ts";

const runs = temporaryFolder();
const plan = await loadPlan(join(import.meta.dirname, "..", "..", "..", "pipelines", "small.yaml"));
const run = await openRunFolder(runs, await createRunFolder(plan, { runs }));
await initializeVersion(run, 0);
const patience = 120_000;
const input = "1 + 2?";

/** A server under way, and clients of it. */
async function served(...options: string[]) {
  return servedWith({}, ...options);
}

async function servedWith(env: Record<string, string>, ...options: string[]) {
  const command = startWith(env, "serve", ...options, "--port", "0");
  onTestFinished(() => {
    killIfRunning(command);
  });
  await vi.waitFor(() => expect(command.stdout() + command.stderr()).toContain("Ctrl-C"), patience);
  const [, baseURL = ""] = /OPENAI_BASE_URL=(\S+)/.exec(command.stdout()) ?? [];
  return { command, client: (apiKey: string) => new OpenAI({ baseURL, apiKey, maxRetries: 0 }) };
}

test("`everturn serve` answers OpenAI's client with a run's policy, and a folder's, as one would", {
  timeout: 3 * patience,
}, async () => {
  const [ofRun, ofFolder] = await Promise.all([
    served(run.id, "--runs", runs),
    served(await folderOf(run, 0), "--api-key", "secret", "--max-tokens", "40"),
  ]);
  const client = ofRun.client("any");
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual([`${run.id}/0`]);
  const messages = [{ role: "user" as const, content: input }];
  const chat = await client.chat.completions.create({ model: "policy", messages });
  expect(chat).toMatchObject({
    model: "policy",
    usage: { completion_tokens: 40 },
    choices: [{ finish_reason: "length" }],
  });
  const content = chat.choices[0]?.message.content;
  const streamed = client.chat.completions.stream({ model: "policy", messages });
  expect(await streamed.finalContent()).toBe(content);
  const [response, folders] = await Promise.all([
    client.responses.create({ model: "policy", input }),
    ofFolder.client("secret").responses.stream({ model: "policy", input }).finalResponse(),
  ]);
  expect([response.output_text, folders.output_text]).toEqual([content, content]);
  const next = await client.responses.create({
    model: "policy",
    input: "Sure?",
    previous_response_id: response.id,
  });
  expect(next.usage?.input_tokens).toBeGreaterThan(chat.usage?.prompt_tokens ?? 0);
  const atOnce = Array.from({ length: 20 }, () => client.responses.create({ model: "policy", input }));
  for (const one of await Promise.all(atOnce)) expect(one.output_text).toBe(content);
  await expect(ofFolder.client("guess").models.list()).rejects.toMatchObject({ status: 401 });
  const long = "x".repeat(300);
  await expect(client.responses.create({ model: "policy", input: long })).rejects.toMatchObject({
    status: 400,
    code: "context_length_exceeded",
  });
  for (const { command } of [ofRun, ofFolder]) {
    command.child.kill("SIGINT");
    expect(await command.end()).toMatchObject({ code: 0, stderr: "" });
  }
});

test("a policy that is not there is told", { timeout: patience }, async () => {
  const missing = await everturn("serve", run.id, "--runs", runs, "--policy-version", "7");
  const other = await everturn("serve", join(runs, "nothing"), "--config", "{}");
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringContaining("a folder with a policy: config.model names"),
  ]);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("has no policy version 7")]);
});

test("the key comes from the environment or a file, and is printed nowhere", {
  timeout: 3 * patience,
}, async () => {
  const file = join(runs, "key.txt");
  writeFileSync(file, "of-file\n");
  const folder = await folderOf(run, 0);
  const [ofEnvironment, ofFile] = await Promise.all([
    servedWith({ EVERTURN_API_KEY: "of-environment" }, folder),
    servedWith({}, folder, "--api-key-file", file),
  ]);
  for (const [{ client, command }, key] of [
    [ofEnvironment, "of-environment"],
    [ofFile, "of-file"],
  ] as const) {
    expect((await client(key).models.list()).data).toHaveLength(1);
    await expect(client(`${key}x`).models.list()).rejects.toMatchObject({ status: 401 });
    expect(command.stdout() + command.stderr()).not.toContain(key);
  }
  writeFileSync(file, "\n");
  const empty = await everturn("serve", folder, "--api-key-file", file);
  expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining("the API key is empty")]);
});
