import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { readLines } from "../../src/runs/files.ts";
import { runFolder } from "../../src/runs/run-folder.ts";
import { everturn, lastLine } from "../support/command.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-tool-host-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const plugin = join(import.meta.dirname, "..", "plugins", "tool-hosted");
const calls = new Map<string, number>();
let answer: (key: string, attempt: number) => { status: number; text: string };
let server: Server;

beforeEach(async () => {
  calls.clear();
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { key } = JSON.parse(body);
    const attempt = (calls.get(key) ?? 0) + 1;
    calls.set(key, attempt);
    const { status, text } = answer(key, attempt);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterEach(() => new Promise((closed) => server.close(closed)));
afterAll(() => rm(runs, { recursive: true, force: true }));

interface Trajectory {
  id: string;
  outcome: string;
  failure?: string;
  turns: { toolCalls: { observation: string; attempts: number; valid: boolean }[] }[];
}

/** One step of 16 trajectories whose calculator is our host. */
async function runOneStep() {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const settings = [
    `tools.0.plugin=${plugin}`,
    `tools.0.config.url=http://127.0.0.1:${port}`,
    "steps=1",
    "evaluation.every=100",
  ];
  const overrides = settings.flatMap((setting) => ["--set", setting]);
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json", ...overrides);
  expect(code, stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(stdout);
  const [record] = await readLines<StepRecord>(runFolder(runs, run).metrics);
  const listed = await everturn("trajectories", run, "--runs", runs, "--stage", "step-0001", "--json");
  const { trajectories } = lastLine<{ trajectories: Trajectory[] }>(listed.stdout);
  return { record, trajectories };
}

test("a host that fails twice and then answers: the trajectory ends as if nothing had happened", async () => {
  answer = (_, attempt) => (attempt <= 2 ? { status: 503, text: "busy" } : { status: 200, text: "42" });
  const { record, trajectories } = await runOneStep();
  expect(record).toMatchObject({ trajectories: 16, leftOut: 0 });
  const toolCalls = trajectories.flatMap(({ turns }) => turns.flatMap((turn) => turn.toolCalls));
  const valid = toolCalls.filter((call) => call.valid);
  expect(valid.length).toBeGreaterThan(0);
  expect(new Set(valid.map((call) => `${call.observation} after ${call.attempts}`))).toEqual(
    new Set(["42 after 3"]),
  );
});

test("a host that never answers one trajectory: that one is left out of the batch, and counted", async () => {
  let cursed: string | undefined;
  answer = (key) => {
    if (key.includes("/step-0001/")) cursed ??= key;
    return key === cursed ? { status: 500, text: "broken" } : { status: 200, text: "42" };
  };
  const { record, trajectories } = await runOneStep();
  expect(record).toMatchObject({ trajectories: 15, leftOut: 1 });
  expect(calls.get(cursed ?? "")).toBe(4);
  const leftOut = trajectories.filter((trajectory) => trajectory.outcome === "left-out");
  expect(leftOut).toHaveLength(1);
  expect(leftOut[0]?.failure).toContain("the calculator's host answered 500");
});
