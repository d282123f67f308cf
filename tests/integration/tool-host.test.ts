import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { TrajectoryRecord } from "../../src/contracts/generated/trajectory.ts";
import { readLines } from "../../src/runs/files.ts";
import { runFolder } from "../../src/runs/run-folder.ts";
import { everturn, lastLine, start } from "../support/command.ts";

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

/** One step of 16 trajectories whose calculator is our host. */
async function runOneStep() {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  const settings = [
    `tools.0.plugin=${plugin}`,
    `tools.0.config.url=${url}`,
    "steps=1",
    "evaluation.every=100",
  ];
  const overrides = settings.flatMap((setting) => ["--set", setting]);
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json", ...overrides);
  expect(code, stderr).toBe(0);
  const { run } = lastLine<{ run: string }>(stdout);
  const folder = runFolder(runs, run);
  const [step] = await readLines<StepRecord>(folder.metrics);
  const stage = join(folder.root, "trajectories", "step-0001");
  const files = readdirSync(stage).map((task) => join(stage, task, "0", "trajectory.json"));
  const trajectories = files.map((file): TrajectoryRecord => JSON.parse(readFileSync(file, "utf8")));
  return { run, step, trajectories };
}

/** The history of a trajectory, from the run's server. */
async function historyOf(run: string, trajectory: string) {
  const dev = start("dev", run, "--runs", runs);
  try {
    const address = await vi.waitUntil(() => /Temporal at (\S+),/.exec(dev.stdout())?.[1], {
      timeout: 30_000,
    });
    const connection = await Connection.connect({ address });
    const { events } = await new Client({ connection }).workflow.getHandle(trajectory).fetchHistory();
    await connection.close();
    return events ?? [];
  } finally {
    dev.child.kill("SIGINT");
    await dev.end();
  }
}

test("a host that fails twice and then answers: the trajectory ends as if nothing had happened", async () => {
  answer = (_, attempt) => (attempt <= 2 ? { status: 503, text: "busy" } : { status: 200, text: "42" });
  const { run, step, trajectories } = await runOneStep();
  expect(step).toMatchObject({ trajectories: 16, leftOut: 0 });
  const called = trajectories.filter(({ turns }) => turns[0]?.toolCalls[0]?.valid === true);
  expect(called.length).toBeGreaterThan(0);
  for (const { turns } of called) {
    expect(turns[0]?.toolCalls[0]).toMatchObject({ tool: "calculator", observation: "42", attempts: 3 });
  }
  const events = await historyOf(run, called[0]?.id ?? "");
  const started = events.map((event) => event.activityTaskStartedEventAttributes);
  const retried = started.find((attributes) => attributes?.attempt === 3);
  expect(retried?.lastFailure?.message).toContain("the calculator's host answered 503");
});

test("a host that never answers one trajectory: that one is left out of the batch, and counted", async () => {
  let cursed: string | undefined;
  answer = (key) => {
    if (key.includes("/step-0001/")) cursed ??= key;
    return key === cursed ? { status: 500, text: "broken" } : { status: 200, text: "42" };
  };
  const { step, trajectories } = await runOneStep();
  expect(step).toMatchObject({ trajectories: 15, leftOut: 1 });
  expect(calls.get(cursed ?? ""), "attempts, as the manifest allows").toBe(4);
  const leftOut = trajectories.filter((trajectory) => trajectory.outcome === "left-out");
  expect(leftOut).toHaveLength(1);
  expect(leftOut[0]?.failure).toContain("the calculator's host answered 500");
});
