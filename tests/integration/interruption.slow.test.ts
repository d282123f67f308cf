import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test, vi } from "vitest";
import { interruptedRun, signalGroup, untilSaid } from "../support/interrupted-run.ts";

const { pipeline, id, everturn, expectNothingLeft, expectQuietEnd } = interruptedRun();

beforeAll(async () => {
  const command = everturn("run", pipeline);
  await untilSaid(command, "reinforcement learning");
  signalGroup(command, "SIGINT");
  await command.end();
});

test("a second Ctrl-C, as npm passes on, changes nothing", async () => {
  const command = everturn("resume", id());
  await untilSaid(command, "Temporal UI at");
  signalGroup(command, "SIGINT");
  await sleep(300);
  if (command.child.exitCode === null) signalGroup(command, "SIGINT");
  await expectQuietEnd(command, 130);
});

test("SIGTERM ends a command that is still starting", async () => {
  const command = everturn("resume", id());
  await untilSaid(command, "starting Temporal and the workers");
  await sleep(1500);
  signalGroup(command, "SIGTERM");
  await expectQuietEnd(command, 143);
});

test("with --json, SIGHUP ends a command with one line of JSON", async () => {
  const command = everturn("resume", id(), "--json");
  await vi.waitUntil(() => command.stderr().includes("Temporal UI at"), { timeout: 250_000 });
  await sleep(1000);
  signalGroup(command, "SIGHUP");
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(129);
  expect(JSON.parse(stdout)).toEqual({ run: id(), interrupted: true });
  expectNothingLeft();
});
