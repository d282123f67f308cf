import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { killProcess, processHandle } from "../../../../src/base/processes/process-handle.ts";
import { isRunning, processIdentity } from "../../../../src/base/processes/process-identity.ts";

/** A process that leads a group and has a child in it, which goes on without it: both ids. */
async function family(): Promise<{ parent: number; child: number }> {
  const wait = "setInterval(() => {}, 1000)";
  const code = `const { spawn } = require("node:child_process");
    process.stdout.write(String(spawn(process.execPath, ["-e", ${JSON.stringify(wait)}]).pid)); ${wait}`;
  const parent = spawn(process.execPath, ["-e", code], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [text] = await once(parent.stdout, "data");
  const pids = { parent: parent.pid ?? -1, child: Number(text) };
  onTestFinished(() => {
    for (const pid of Object.values(pids))
      if (processIdentity(pid) !== undefined) process.kill(pid, "SIGKILL");
  });
  return pids;
}

test("killing a process by its handle ends its whole group, also when the process itself has ended before", async () => {
  const { parent, child } = await family();
  const handle = processHandle(parent);
  process.kill(parent, "SIGKILL");
  await vi.waitUntil(() => processIdentity(parent) === undefined, { timeout: 100_000 });
  expect(processIdentity(child)).toBeDefined();
  killProcess(handle);
  await vi.waitUntil(() => processIdentity(child) === undefined, { timeout: 100_000 });
});

test.runIf(process.platform === "linux")(
  "a process runs until the last of its threads has ended",
  async () => {
    const exit = process.arch === "x64" ? 60 : 93; // the system call that ends one thread
    const code = `process.stdout.write(".", () => require("koffi").load(null).func("long syscall(long, int)")(${exit}, 0));`;
    const { pid = -1, stdout } = spawn(process.execPath, ["-e", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => {
      if (processIdentity(pid) !== undefined) process.kill(pid, "SIGKILL");
    });
    await once(stdout, "data");
    const firstThread = () => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "")[0];
    await vi.waitUntil(() => firstThread() === "Z", { timeout: 100_000 });
    expect(processIdentity(pid)).toBeDefined();
    process.kill(pid, "SIGKILL");
    await vi.waitUntil(() => processIdentity(pid) === undefined, { timeout: 100_000 });
  },
);

test("a process that got the id of another one, or runs on another machine, is let live", async () => {
  const { parent } = await family();
  const identity = processIdentity(parent);
  if (identity === undefined) throw new Error("it does not run");
  killProcess({ ...identity, started: "1" });
  killProcess({ ...identity, machine: "elsewhere" });
  expect(isRunning(identity)).toBe(true);
  expect(isRunning({ ...identity, started: "1" })).toBe(false);
  expect(isRunning({ ...identity, machine: "elsewhere" })).toBeUndefined();
});
