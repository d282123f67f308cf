import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test, vi } from "vitest";
import { readRunHolder } from "../../src/control/supervision/run-holder.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine } from "../support/command.ts";
import { interruptedRun, untilSaid } from "../support/interrupted-run.ts";
import { processesWith } from "../support/processes.ts";

const { runs, pipeline, id, everturn, expectNothingLeft, expectQuietEnd } = interruptedRun();

beforeAll(async () => {
  const command = everturn("run", pipeline);
  await untilSaid(command, "reinforcement learning");
  command.signalGroup("SIGINT");
  await command.end();
});

test("a second Ctrl-C, as npm passes on, changes nothing", async () => {
  const command = everturn("resume", id());
  await untilSaid(command, "Temporal UI at");
  command.signalGroup("SIGINT");
  await sleep(50);
  if (command.child.exitCode === null) command.signalGroup("SIGINT");
  await expectQuietEnd(command, 130);
});

test("SIGTERM ends a command that is still starting", async () => {
  const command = everturn("resume", id());
  await untilSaid(command, "starting Temporal and the workers");
  await sleep(1500);
  command.signalGroup("SIGTERM");
  await expectQuietEnd(command, 143);
});

test("with --json, SIGHUP ends a command with one line of JSON", async () => {
  const command = everturn("resume", id(), "--json");
  await vi.waitUntil(() => command.stderr().includes("Temporal UI at"), { timeout: 250_000 });
  await sleep(1000);
  command.signalGroup("SIGHUP");
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(129);
  expect(JSON.parse(stdout)).toEqual({ run: id(), interrupted: true });
  expectNothingLeft();
});

test("a run whose command is killed at any moment loses its workers, and the next resume finishes it", async () => {
  const workers = () => processesWith(`--run ${id()} --runs ${runs} `);
  for (const moment of [0, 2300]) {
    const command = everturn("dev", id());
    await vi.waitUntil(() => workers().size > 0, { timeout: 100_000, interval: 5 });
    await sleep(moment);
    command.child.kill("SIGKILL");
    await command.end();
    await vi.waitUntil(() => workers().size === 0, { timeout: 100_000, interval: 50 });
  }
  const left = (await readRunHolder(runFolder(runs, id())))?.server?.pid ?? 0;
  expect(process.kill(left, 0), "the server outlives the process that started it").toBe(true);
  const { code, stdout, stderr } = await everturn("resume", id(), "--json").end();
  expect(code, stderr).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ run: id(), steps: 2, trajectories: 8 });
  expect(() => process.kill(left, 0)).toThrow("ESRCH");
});
