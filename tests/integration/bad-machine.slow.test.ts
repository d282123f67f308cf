import { spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { isSystemError } from "../../src/base/errors/system-error.ts";
import { everturn, killIfRunning, type RunningCommand, start } from "../support/command.ts";
import { mayMount, mount } from "../support/mount.ts";
import { writeSampleRun } from "../support/sample-run.ts";

const pipeline = join(import.meta.dirname, "..", "pipelines", "small.yaml");
/** Seconds of them are left when the machine has been bad, after the first. */
const steps = 12;
const overrides = [
  `steps=${steps}`,
  "warmStart.steps=10",
  "warmStart.batchSize=1",
  "evaluation.tasks=2",
  "rollout.batchSize=8",
];
const settings = overrides.flatMap((setting) => ["--set", setting]);
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;

/** A folder for runs: a small disk of its own if this user may mount one. */
function newDisk(megabytes: number): { runs: string; remove: () => void } {
  const runs = mkdtempSync(join(tmpdir(), "everturn-bad-"));
  if (mayMount) mount("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", runs);
  const remove = () => {
    if (mayMount) mount("umount", "--lazy", runs);
    rmSync(runs, { recursive: true, force: true });
  };
  return { runs, remove };
}

/** The same for a test. */
function place(megabytes: number): string {
  const { runs, remove } = newDisk(megabytes);
  onTestFinished(remove);
  return runs;
}

/** Waits for a line of the run; fails with all that it said if it ends before. */
async function untilSaid({ stdout, stderr, child }: RunningCommand, text: string): Promise<void> {
  for (let waited = 0; !stdout().includes(text) && waited < 1200 && child.exitCode === null; waited++) {
    await sleep(100);
  }
  expect(stdout() + stderr()).toContain(text);
}

/** Writes a file until the disk is full. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const size of [2 ** 20, 4096]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch (error) {
        if (!isSystemError(error, "ENOSPC")) throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}

/** Makes a mounted folder read-only, once no process has a file open for writing there. */
async function remountReadOnly(folder: string): Promise<void> {
  for (;;) {
    try {
      mount("mount", "-o", "remount,ro,bind", folder);
      return;
    } catch (error) {
      if (!messageOf(error).includes("busy")) throw error;
    }
    await sleep(20);
  }
}

/** The process of the worker of `role` of the run in `runs`; other tests' runs may have its name. */
function workerOf(runs: string, role: string): number {
  const words = new RegExp(`--role ${role} .*--runs ${runs} `);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").match(words)) return Number(pid);
    } catch {
      // it has ended since
    }
  }
  throw new Error(`The run in ${runs} has no ${role} worker`);
}

describe.skipIf(!mayMount && !hasPrlimit)("one run, whatever comes over its machine", () => {
  let command: RunningCommand;
  let runs: string;
  let remove: () => void;

  beforeAll(() => {
    ({ runs, remove } = newDisk(100));
    command = start("run", pipeline, "--runs", runs, ...settings);
  });
  afterAll(() => {
    killIfRunning(command); // a test has failed
    remove();
  });

  test.skipIf(!hasPrlimit)("a trainer with too little memory: the run says so", async () => {
    await untilSaid(command, "reinforcement learning"); // a step needs eight times as much as the warm start did
    const trainer = workerOf(runs, "trainer");
    // More than an update is planned to take, which would be refused; but it has more than this already.
    const { status, stderr } = spawnSync("prlimit", [`--pid=${trainer}`, "--data=268435456"], {
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    await untilSaid(command, "the trainer worker exited");
  });

  test.skipIf(!mayMount)("the store is read-only: the run says so", async () => {
    await untilSaid(command, `step 1/${steps}`);
    const [run = ""] = readdirSync(runs);
    const store = join(runs, run, "trajectories");
    mount("mount", "--bind", store, store);
    await remountReadOnly(store);
    await untilSaid(command, "can't be written: its file system is read-only.");
  });

  test.skipIf(!mayMount)("the disk is full: the run says so, and waits", async () => {
    fill(join(runs, "ballast"));
    const [run = ""] = readdirSync(runs).filter((name) => name !== "ballast");
    mount("umount", "--lazy", join(runs, run, "trajectories")); // so that the next that is wrong is this
    await untilSaid(command, "can't be written: the disk is full.");
    rmSync(join(runs, "ballast"));
  });

  test("it goes on when all is well again, and nothing is lost", async () => {
    const { code, stdout, stderr } = await command.end();
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`${steps} steps, ${steps * 8} trajectories`);
    const [run = ""] = readdirSync(runs).filter((name) => name.startsWith("small-"));
    const ledger = await everturn("ledger", run, "--runs", runs);
    expect(ledger.stdout, ledger.stderr).toContain("The ledger holds.");
  });
});

describe.skipIf(!mayMount)("needs the right to mount a disk", () => {
  test("a run on a full disk can't be begun: nothing is started, and the disk is named", async () => {
    const runs = place(1);
    fill(join(runs, "ballast"));
    const { code, stderr } = await everturn("run", pipeline, "--runs", runs);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DISK_FULL: .*identity\.json can't be written: the disk is full\./);
  });

  test("a plan can't be changed on a full disk: nothing is started, and the disk is named", async () => {
    const runs = place(20);
    const { id, folder } = await writeSampleRun({}, runs);
    const writing = join(folder.root, "writing"); // a disk of its own: what else is written has room
    mkdirSync(writing, { recursive: true });
    mount("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", writing);
    onTestFinished(() => mount("umount", "--lazy", writing));
    fill(join(writing, "ballast"));
    const command = start("resume", id, "--runs", runs, "--set", "steps=40");
    onTestFinished(() => void command.child.kill("SIGKILL"));
    const { code, stderr } = await command.end();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^DISK_FULL: .*plan\/2\.json can't be written: the disk is full\./m);
    fill(join(runs, "ballast"));
    const full = await everturn("resume", id, "--runs", runs);
    expect(full.code).toBe(1);
    expect(full.stderr).toMatch(/^DISK_FULL: .* can't be written: the disk is full\./m);
  });
});
