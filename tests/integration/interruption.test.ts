import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { runFolder } from "../../src/runs/run-folder.ts";
import { readSession } from "../../src/runs/session-file.ts";
import { lastLine, type RunningCommand, start } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const runs = temporaryFolder();
const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const settings = ["steps=1", "evaluation.tasks=2", "rollout.batchSize=8", "warmStart.steps=20"];
const overrides = settings.flatMap((setting) => ["--set", setting]);

/** Waits until the command says that the server is up; it works by then. */
async function untilUp(command: RunningCommand): Promise<void> {
  for (let waited = 0; waited < 600 && !command.stdout().includes("Temporal UI at"); waited++)
    await sleep(100);
  expect(command.stdout()).toContain("Temporal UI at");
}

test("Ctrl-C ends a run in order; killed outright, the next resume clears up and goes on", {
  timeout: 120_000,
}, async () => {
  const command = start("run", pipeline, "--runs", runs, ...overrides);
  await untilUp(command);
  command.child.kill("SIGINT");
  const interrupted = await command.end();
  const [run = ""] = readdirSync(runs);
  expect(interrupted).toMatchObject({ code: 130, stderr: "" });
  expect(interrupted.stdout).toContain(
    `interrupted; nothing that was finished is lost: everturn resume ${run}`,
  );
  const folder = runFolder(runs, run);
  expect(existsSync(folder.session)).toBe(false);

  const killed = start("resume", run, "--runs", runs);
  await untilUp(killed);
  const session = await readSession(folder);
  const left = session?.server?.pid ?? 0;
  killed.child.kill("SIGKILL");
  await killed.end();
  expect(process.kill(left, 0), "the server outlives the process that started it").toBe(true);

  const resumed = await start("resume", run, "--runs", runs, "--json").end();
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(lastLine(resumed.stdout)).toMatchObject({ run, steps: 1, trajectories: 8 });
  expect(() => process.kill(left, 0)).toThrow("ESRCH");
});
