import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, vi } from "vitest";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { killIfRunning, type RunningCommand, start } from "./command.ts";
import { killAll, processesWith } from "./processes.ts";
import { scriptedPolicy, writeScriptedPipeline } from "./scripted-pipeline.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A run of two slow steps in a folder of its own, which commands may interrupt. Its processes end with the test file. */
export function interruptedRun() {
  const folder = temporaryFolder();
  const runs = join(folder, "runs");
  const policy = scriptedPolicy({ conversations: [["1"]], seconds: 1.5 });
  const rollout = { batchSize: 4, groupSize: 1, concurrency: 1, maxActionTokens: 100 };
  const pipeline = writeScriptedPipeline(folder, [["1"]], { tools: [], policy, rollout, steps: 2 });
  const commands: RunningCommand[] = [];
  afterAll(() => {
    commands.forEach(killIfRunning);
    killAll(processesWith(folder).keys(), "SIGKILL");
  });
  const id = () => readdirSync(runs)[0] ?? "";

  function everturn(...parameters: string[]): RunningCommand {
    const command = start(...parameters, "--runs", runs);
    commands.push(command);
    return command;
  }

  /** Expects that no process and no session of the run is left. */
  function expectNothingLeft(): void {
    expect([...processesWith(runs)]).toEqual([]); // another test may have a run of that name
    expect(existsSync(runFolder(runs, id()).holder)).toBe(false);
  }

  /** Expects a command that a signal interrupted to end with this exit code and to leave nothing behind. */
  async function expectQuietEnd(command: RunningCommand, code: number): Promise<void> {
    const end = await command.end();
    const notes = /^dataset\.validation: \d+ of its \d+ tasks are also training tasks, .*\n/;
    expect({ code: end.code, stderr: end.stderr.replace(notes, "") }).toEqual({ code, stderr: "" });
    expect(end.stdout.trim().split("\n").at(-1)).toBe(
      `interrupted; nothing that was finished is lost: npx everturn resume ${id()}`,
    );
    expect(end.stdout).not.toMatch(/restarting it|does not answer|ended \(/);
    expectNothingLeft();
  }

  return { runs, pipeline, id, everturn, expectNothingLeft, expectQuietEnd };
}

/** Waits until a command has written a text to its standard output. */
export function untilSaid(command: RunningCommand, text: string): Promise<boolean> {
  return vi.waitUntil(() => command.stdout().includes(text), { timeout: 100_000, interval: 20 });
}
