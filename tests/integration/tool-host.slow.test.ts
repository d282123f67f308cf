import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import type { ToolHostChange } from "../../src/contracts/tool-host-change.ts";
import { withRunClient } from "../../src/control/supervision/run-client.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { everturn, lastLine, start } from "../support/command.ts";
import { firstOutput } from "../support/first-output.ts";
import { callsRecorded } from "../support/sessions.ts";
import { stageRecords } from "../support/stage-records.ts";

const runs = mkdtempSync(join(tmpdir(), "everturn-tool-host-"));
const pipeline = join(import.meta.dirname, "..", "pipelines", "tools.yaml");
const calls = new Map<string, number>();
let answer: (key: string, attempt: number) => { status: number; text: string };
let server: Server;
let underWay = 0;
let mostAtOnce = 0;

beforeEach(async () => {
  calls.clear();
  mostAtOnce = 0;
  server = createServer(async (request, response) => {
    mostAtOnce = Math.max(mostAtOnce, ++underWay);
    const { key } = JSON.parse(await text(request));
    await sleep(20);
    underWay--;
    const attempt = (calls.get(key) ?? 0) + 1;
    calls.set(key, attempt);
    const answered = answer(key, attempt);
    response.writeHead(answered.status).end(answered.text);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterEach(() => new Promise((closed) => server.close(closed)));
afterAll(() => rm(runs, { recursive: true, force: true }));

/** The options for a run of one step whose calculator is the host at `port`. */
function overrides(port: number, ...more: string[]): string[] {
  const url = `tools.0.config.url=http://127.0.0.1:${port}`;
  return [url, ...more].flatMap((setting) => ["--set", setting]);
}

/** One step with our host, which is never paused, and gets three calls at once. */
async function runOneStep() {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const settings = ["hosts.calculator.failures=1000", "tools.0.concurrency=3", "rollout.batchSize=8"];
  const options = overrides(port, ...settings);
  const { code, stdout, stderr } = await everturn("run", pipeline, "--runs", runs, "--json", ...options);
  expect(code, stderr).toBe(0);
  return resultOf(stdout);
}

async function resultOf(stdout: string) {
  const { run } = lastLine<{ run: string }>(stdout);
  const folder = runFolder(runs, run);
  const [step] = await readLines<StepRecord>(folder.metrics);
  return { run, folder, step, trajectories: await stageRecords(folder.root, "step-0001") };
}

function newestRun(): string {
  return (
    readdirSync(runs)
      .filter((name) => name.startsWith("tools-"))
      .sort()
      .at(-1) ?? ""
  );
}

/** A calculator's host in a process of its own. */
async function startHost(log: string, port: number, ...more: string[]): Promise<{ kill(): void }> {
  const file = join(import.meta.dirname, "..", "support", "calculator-host.ts");
  const child = spawn(process.execPath, [file, log, String(port), ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await firstOutput(child);
  return { kill: () => void child.kill("SIGKILL") };
}

test("a host that fails twice and then answers costs nothing; one trajectory that it never answers is left out, and counted", async () => {
  let cursed: string | undefined;
  answer = (key, attempt) => {
    if (key.includes("/step-0001/")) cursed ??= key;
    if (key === cursed) return { status: 500, text: "broken" };
    return attempt <= 2 ? { status: 503, text: "busy" } : { status: 200, text: "42" };
  };
  const { run, step, trajectories } = await runOneStep();
  expect(step).toMatchObject({ trajectories: 8, leftOut: 1 });
  expect(mostAtOnce).toBe(3);
  const ended = trajectories.filter(({ outcome }) => outcome !== "left-out");
  expect(ended, "another one took its place").toHaveLength(8);
  const called = ended.filter(({ turns }) => turns[0]?.toolCalls[0]?.valid === true);
  expect(called.length).toBeGreaterThan(0);
  for (const { turns } of called) {
    expect(turns[0]?.toolCalls[0]).toMatchObject({ tool: "calculator", observation: "42", attempts: 3 });
  }
  const started = await withRunClient({ runs, run, temporal: undefined }, async (client) => {
    const { events } = await client.workflow.getHandle(called[0]?.id ?? "").fetchHistory();
    return events?.map((event) => event.activityTaskStartedEventAttributes);
  });
  const retried = started?.find((attributes) => attributes?.attempt === 3);
  expect(retried?.lastFailure?.message).toContain("the calculator's host answered 503");

  expect(calls.get(cursed ?? ""), "attempts, as the manifest allows").toBe(4);
  const leftOut = trajectories.filter(({ outcome }) => outcome === "left-out");
  expect(leftOut).toHaveLength(1);
  expect(leftOut[0]?.failure).toContain("the calculator's host answered 500");
});

test("a host that is killed and started again: its calls wait, spend no attempt, and none is left out", async () => {
  const log = join(runs, "host.log");
  const port = await freePort(17_533); // nobody else takes it meanwhile
  let host = await startHost(log, port, "holds");
  const options = [
    ...overrides(port, "hosts.calculator.failures=3"),
    "--set",
    "hosts.calculator.pause=200ms",
  ];
  const command = start("run", pipeline, "--runs", runs, ...options);
  const asked = () =>
    readFileSync(log, "utf8")
      .split("\n")
      .filter((key) => key.includes("/step-0001/"));
  // The answer to one call must not come between the failures of the others, three of which pause the host.
  const isReady = () => asked().length > 3 && callsRecorded(runFolder(runs, newestRun()), "step-0001", 1) > 0;
  await vi.waitUntil(isReady, { timeout: 250_000, interval: 5 });
  host.kill();
  await vi.waitUntil(() => command.stdout().includes("its calls wait"), { timeout: 250_000 });
  await sleep(3000);
  host = await startHost(log, port);
  const { code, stderr, stdout } = await command.end();
  host.kill();
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/the tool host calculator works again after \d/);
  const { folder, step, trajectories } = await resultOf(JSON.stringify({ run: newestRun() }));
  expect(step).toMatchObject({ trajectories: 16, leftOut: 0 });
  const changes = await readLines<ToolHostChange>(folder.hosts);
  expect(changes.map(({ state }) => state)).toEqual(["paused", "resumed"]);
  const attempts = trajectories.flatMap(({ turns }) =>
    turns.flatMap(({ toolCalls }) => toolCalls.map((call) => call.attempts)),
  );
  expect(Math.max(...attempts), "3 s of outage cost a call its first attempt at most").toBeLessThanOrEqual(2);
});
