import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { heldRunAddress } from "../../src/control/supervision/run-holder.ts";
import { roles } from "../../src/run/folder/queues.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
import { lastLine, type RunningCommand, start } from "../support/command.ts";
import { writeScriptedPipeline } from "../support/scripted-pipeline.ts";
import { startedCommands } from "../support/started-commands.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const runs = join(folder, "runs");
const remember = startedCommands();
const waiting = { timeout: 250_000, interval: 50 };

test("with --workers elsewhere, the command starts no workers, and those started by hand train the run with this --id", async () => {
  const pipeline = writeScriptedPipeline(folder, [["4"]], {
    tools: [{ plugin: "tool-calculator" }],
    rollout: { batchSize: 2 },
  });
  const train = () => started("run", pipeline, "--id", "by-hand", "--workers", "elsewhere", "--json");
  const command = train();
  const place = runFolder(runs, "by-hand");
  await vi.waitUntil(() => heldRunAddress(place), waiting);
  const workers = roles.map((role) => started("worker", "--role", role, "--run", "by-hand"));
  const { code, stdout, stderr } = await command.end();
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("npx everturn worker --run by-hand --role ROLE");
  expect(lastLine(stdout)).toMatchObject({ run: "by-hand", steps: 1, trajectories: 2 });
  for (const role of roles) expect(existsSync(place.log(role)), role).toBe(false);
  for (const worker of workers) expect(worker.stdout()).toContain("polls");
  for (const { child } of workers.filter(() => process.platform === "linux")) {
    expect(String(readFileSync(`/proc/${child.pid}/cmdline`))).toContain("workflow-thread"); // as in a command's workers
  }
  for (const { child, end } of workers) {
    child.kill("SIGTERM");
    await end();
  }

  writeScriptedPipeline(folder, [["5"]], { tools: [], rollout: { batchSize: 2 } });
  const other = await train().end();
  expect(other.code).toBe(1);
  expect(other.stderr).toContain("RUN_DIFFERS");
});

function started(...parameters: string[]): RunningCommand {
  return remember(start(...parameters, "--runs", runs));
}
