import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { readSession } from "../../src/control/supervision/session-file.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine, type RunningCommand, start } from "../support/command.ts";
import { processesWith } from "../support/processes.ts";
import { scriptedPolicy, writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const commands: RunningCommand[] = [];

afterAll(() => {
  for (const { child, killGroup } of commands)
    if (child.exitCode === null && child.signalCode === null) killGroup();
  for (const pid of processesWith(folder).keys()) process.kill(pid, "SIGKILL");
});

function everturn(...parameters: string[]): RunningCommand {
  const command = start(...parameters, "--runs", runs);
  commands.push(command);
  return command;
}

const untilSaid = (command: RunningCommand, text: string) =>
  vi.waitUntil(() => command.stdout().includes(text), { timeout: 100_000, interval: 20 });

/** What a terminal does: it tells every process of the group, the server and the workers too. */
const tell = ({ child }: RunningCommand, signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal);

test("Ctrl-C, also twice or while starting, SIGTERM and SIGHUP end a run quietly and wholly", async () => {
  const policy = scriptedPolicy({ conversations: [["1"]], seconds: 1.5 });
  const rollout = { batchSize: 4, groupSize: 1, concurrency: 1, maxActionTokens: 100 };
  const pipeline = writeScriptedPipeline(folder, [["1"]], { tools: [], policy, rollout, steps: 2 });

  /** Waits for the end that a signal to the group brings, and looks what is left. */
  async function ended(command: RunningCommand, code: number): Promise<void> {
    const end = await command.end();
    const [run = ""] = readdirSync(runs);
    expect(end).toMatchObject({ code, stderr: "" });
    expect(end.stdout.trim().split("\n").at(-1)).toBe(
      `interrupted; nothing that was finished is lost: npx everturn resume ${run}`,
    );
    expect(end.stdout).not.toMatch(/starting it again|does not answer|ended \(/);
    expect([...processesWith(runs)]).toEqual([]); // another test may have a run of that name
    expect(existsSync(runFolder(runs, run).session)).toBe(false);
  }

  let command = everturn("run", pipeline);
  await untilSaid(command, "reinforcement learning");
  tell(command, "SIGINT");
  await ended(command, 130);

  const [run = ""] = readdirSync(runs);
  command = everturn("resume", run);
  await untilSaid(command, "Temporal UI at");
  tell(command, "SIGINT");
  await sleep(300);
  if (command.child.exitCode === null) tell(command, "SIGINT"); // as npm does, which is told by the terminal too
  await ended(command, 130);

  command = everturn("resume", run);
  await untilSaid(command, "starting Temporal and the workers");
  await sleep(1500);
  tell(command, "SIGTERM");
  await ended(command, 143);

  command = everturn("resume", run, "--json");
  await vi.waitUntil(() => command.stderr().includes("Temporal UI at"), { timeout: 100_000 });
  await sleep(1000);
  tell(command, "SIGHUP");
  const interrupted = await command.end();
  expect(interrupted.code, interrupted.stderr).toBe(129);
  expect(JSON.parse(interrupted.stdout)).toEqual({ run, interrupted: true });
  expect([...processesWith(runs)]).toEqual([]);
  expect(existsSync(runFolder(runs, run).session)).toBe(false);
});

test("killed outright, at whatever moment, its workers end; the next resume ends the server and goes on to the end", async () => {
  const [run = ""] = readdirSync(runs);
  const opened = runFolder(runs, run);
  const workers = () => processesWith(`--run ${run} --runs ${runs} `);
  for (const moment of [700, 3000]) {
    const command = everturn("dev", run);
    await vi.waitUntil(() => workers().size > 0, { timeout: 100_000, interval: 5 });
    await sleep(moment - 700);
    command.child.kill("SIGKILL");
    await command.end();
    await vi.waitUntil(() => workers().size === 0, { timeout: 100_000, interval: 50 });
  }
  const left = (await readSession(opened))?.server?.pid ?? 0;
  expect(process.kill(left, 0), "the server outlives the process that started it").toBe(true);
  const resumed = everturn("resume", run, "--json");
  const { code, stdout, stderr } = await resumed.end();
  expect(code, stderr).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ run, steps: 2, trajectories: 8 });
  expect(() => process.kill(left, 0)).toThrow("ESRCH");
});
