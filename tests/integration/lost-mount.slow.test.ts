import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { everturn, killIfRunning, start } from "../support/command.ts";
import { mayMount, mount } from "../support/mount.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
const steps = 6;
const settings = [
  `steps=${steps}`,
  "warmStart.steps=10",
  "warmStart.batchSize=1",
  "evaluation.tasks=2",
].flatMap((setting) => ["--set", setting]);

describe.skipIf(!mayMount)("the file system of a run's folder goes away", () => {
  const folder = temporaryFolder();
  const disk = join(folder, "disk");
  const runs = join(folder, "mounted");
  const attach = () => mount("mount", "--bind", disk, runs);
  const command = { current: undefined as ReturnType<typeof start> | undefined };
  afterAll(() => {
    killIfRunning(command.current);
    mount("umount", "--lazy", runs);
  });

  test("the run waits, writes nothing below the mount point, and goes on when it is back", async () => {
    mkdirSync(disk);
    mkdirSync(runs);
    attach();
    const running = start("run", pipeline, "--runs", runs, ...settings);
    command.current = running;
    const said = () => running.stdout() + running.stderr();
    while (!said().includes(`step 1/${steps}`) && running.child.exitCode === null) await sleep(100);
    mount("umount", "--lazy", runs);
    for (let waited = 0; !said().includes("is not there") && waited < 600; waited++) await sleep(100);
    expect(said()).toMatch(/the run's folder .* is not there: its identity\.json is missing/);
    await sleep(5000);
    expect(readdirSync(runs)).toEqual([]);
    attach();
    const { code, stdout, stderr } = await running.end();
    expect(code, stdout + stderr).toBe(0);
    const [run = ""] = readdirSync(runs);
    expect(existsSync(join(runs, run, "identity.json"))).toBe(true);
    const ledger = await everturn("ledger", run, "--runs", runs);
    expect(ledger.stdout, ledger.stderr).toContain("The ledger holds.");
  });
});
