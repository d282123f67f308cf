import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { readLines } from "../../src/base/files/line-file.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { readRunHolder } from "../../src/control/supervision/run-holder.ts";
import { startDevServer } from "../../src/control/temporal/dev-server.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { findServerBinary } from "../../src/control/temporal/server-binary.ts";
import { type RunFolder, runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine, type RunningCommand, start } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
/** A run that is not over before its command has asked the server again. */
const steps = 30;
const settings = [
  `steps=${steps}`,
  "evaluation.tasks=2",
  "evaluation.every=10",
  "rollout.batchSize=8",
  "warmStart.steps=2",
];
const overrides = settings.flatMap((setting) => ["--set", setting]);
/** How long a server is away; a minute and more was tried by hand. */
const outage = Number(process.env.EVERTURN_OUTAGE_SECONDS ?? 8) * 1000;

async function untilTraining(command: RunningCommand): Promise<void> {
  const trains = () => command.stderr().includes(`step 1/${steps}`);
  await vi.waitUntil(trains, { timeout: 250_000, interval: 50 });
}

test("a joined server that stops answering, and then dies and comes back: the run waits and loses nothing", async () => {
  const runs = join(folder, "joined");
  mkdirSync(runs);
  const paths = { database: join(runs, "joined.db"), log: join(runs, "joined.log") };
  const binary = await findServerBinary();
  const ports = { server: await freePort(17_233), ui: await freePort(18_233) }; // nobody else takes them meanwhile
  const server = await startDevServer({ binary, ...paths, ports });
  const { address } = server;
  const command = start(
    "run",
    pipeline,
    "--runs",
    join(runs, "all"),
    "--address",
    address,
    "--workers",
    "shared",
    "--json",
    ...overrides,
  );
  await untilTraining(command);
  process.kill(server.pid, "SIGSTOP");
  const isMissed = () => command.stderr().includes("does not respond");
  await Promise.all([sleep(outage), vi.waitUntil(isMissed, { timeout: 250_000 })]);
  process.kill(server.pid, "SIGCONT");
  await vi.waitUntil(() => command.stderr().includes("responds again"), { timeout: 250_000 });
  process.kill(server.pid, "SIGKILL");
  await server.ended;
  await sleep(outage);
  const again = await startDevServer({ binary, ...paths, ports });
  const { code, stdout, stderr } = await command.end();
  await again.stop();
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`the Temporal server at ${address} does not respond: waiting for it`);
  const { run } = lastLine<{ run: string }>(stdout);
  const records = await readLines<StepRecord>(runFolder(join(runs, "all"), run).metrics);
  expect(records.map(({ step, trajectories, leftOut }) => [step, trajectories, leftOut])).toEqual(
    Array.from({ length: steps }, (_, before) => [before + 1, 8, 0]),
  );
});

test("an own server whose port another program has taken meanwhile moves to another port: a run goes on, an evaluation too", async () => {
  const runs = join(folder, "own");
  let command = start("run", pipeline, "--runs", runs, "--json", ...overrides);
  await untilTraining(command);
  const [run = ""] = readdirSync(runs);
  const opened = runFolder(runs, run);
  const trained = await endsThough(command, opened);
  expect(lastLine(trained)).toMatchObject({ run, steps, trajectories: 8 * steps });
  const begun = (role: string) => readFileSync(opened.log(role), "utf8").split(" polls ").length;
  const before = ["orchestration", "trainer"].map((role) => ({ role, times: begun(role) }));
  command = start("evaluate", run, "--runs", runs, "--json", "--limit", "30");
  const isWorking = () => before.every(({ role, times }) => begun(role) > times);
  await vi.waitUntil(isWorking, { timeout: 250_000, interval: 20 });
  expect(lastLine(await endsThough(command, opened))).toMatchObject({ tasks: 30, leftOut: 0 });
});

/** Kills a command's own server, and has its port taken; what the command writes until it ends. */
async function endsThough(command: RunningCommand, opened: RunFolder): Promise<string> {
  const { server, address = "" } = (await readRunHolder(opened)) ?? {};
  if (server === undefined) throw new Error("the run has no server");
  process.kill(server.pid, "SIGKILL");
  const thief = createServer();
  for (let tries = 0; tries < 100 && !thief.listening; tries++) {
    thief.once("error", () => {}); // the port is not free yet
    thief.listen(Number(address.split(":")[1]), "127.0.0.1");
    await sleep(20);
  }
  const { code, stdout, stderr } = await command.end();
  thief.close();
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("the Temporal server exited (SIGKILL); restarting it");
  expect(stderr).toContain(
    "another program uses the port of the run's Temporal server: starting the server on another port",
  );
  expect(existsSync(opened.holder)).toBe(false);
  return stdout;
}
