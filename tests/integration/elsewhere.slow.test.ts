import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { heldRunAddress } from "../../src/control/supervision/run-holder.ts";
import { roles } from "../../src/run/folder/queues.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine, type RunningCommand, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const commands: RunningCommand[] = [];
const waiting = { timeout: 250_000, interval: 50 };

afterAll(() => {
  for (const { child, killGroup } of commands)
    if (child.exitCode === null && child.signalCode === null) killGroup();
});

test("with --workers elsewhere, the command starts no workers, and those started by hand train the run", async () => {
  const pipeline = writeScriptedPipeline(folder, [["4"]], {
    tools: [{ plugin: "tool-calculator" }],
    rollout: { batchSize: 2 },
  });
  const command = started("run", pipeline, "--workers", "elsewhere", "--json");
  const run = await vi.waitUntil(
    () => /everturn worker --run (\S+) --role/.exec(command.stderr())?.[1],
    waiting,
  );
  const place = runFolder(runs, run);
  await vi.waitUntil(() => heldRunAddress(place), waiting);
  const workers = roles.map((role) => started("worker", "--role", role, "--run", run));
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  expect(lastLine(stdout)).toMatchObject({ run, steps: 1, trajectories: 2 });
  for (const role of roles) expect(existsSync(place.log(role)), role).toBe(false);
  for (const worker of workers) expect(worker.stdout()).toContain("polls");
});

function started(...parameters: string[]): RunningCommand {
  const command = start(...parameters, "--runs", runs);
  commands.push(command);
  return command;
}
