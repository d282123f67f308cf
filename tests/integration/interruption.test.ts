import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { readRunHolder } from "../../src/control/supervision/run-holder.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine } from "../support/command.ts";
import { interruptedRun, signalGroup, untilSaid } from "../support/interrupted-run.ts";
import { processesWith } from "../support/processes.ts";

const { runs, pipeline, id, everturn, expectQuietEnd } = interruptedRun();

test("Ctrl-C ends a run quietly and leaves no process", async () => {
  const command = everturn("run", pipeline);
  await untilSaid(command, "reinforcement learning");
  signalGroup(command, "SIGINT");
  await expectQuietEnd(command, 130);
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
