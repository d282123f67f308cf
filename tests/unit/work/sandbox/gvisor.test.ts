import { existsSync } from "node:fs";
import { openSandbox, type Sandbox } from "everturn/sandbox";
import { expect, test } from "vitest";
import { messageOf } from "../../../../src/base/errors/message-of.ts";

/** gVisor's sandbox; else says why there is none. */
async function gvisorHere(): Promise<Sandbox | undefined> {
  try {
    return await openSandbox("gvisor", { modules: import.meta.url });
  } catch (error) {
    process.stderr.write(`Tests of gVisor are skipped on this machine: ${messageOf(error)}\n`);
    return undefined;
  }
}

const here = await gvisorHere();

test.runIf(here !== undefined)("gVisor: programs, files, what is kept, limits", async () => {
  const sandbox = here as Sandbox;
  const session = await sandbox.open({ limits: { time: 5, memory: 128, disk: 8, processes: 16 } });
  const run = (code: string, keep = false) => session.run({ language: "python", code, keep });
  await session.write({ "data/rows.csv": "1,2\n" });
  expect(await run("print(open('data/rows.csv').read())\n6 * 7")).toMatchObject({
    outcome: "finished",
    stdout: "1,2\n\n",
    value: "42",
  });
  const namespaces = "import ctypes\nctypes.CDLL(None).unshare(0x10000000)";
  expect(await run(namespaces)).toMatchObject({ value: "-1" });
  await run("import math\nx = 5", true);
  expect(await run("math.factorial(x)", true)).toMatchObject({ value: "120" });
  expect(await run("x")).toMatchObject({ outcome: "failed" });
  expect(await run("a = bytearray(1 << 30)")).toMatchObject({ outcome: "memory-limit" });
  const forks = "import os, time\nfor _ in range(40):\n  if os.fork() == 0: time.sleep(60)\ntime.sleep(60)";
  expect(await run(forks)).toMatchObject({ outcome: "process-limit" });
  expect(await run("print(open('/proc/version').read())")).toMatchObject({
    stdout: expect.stringContaining("Linux version 4.4.0"), // gVisor's, on every machine
  });
  expect(await session.run({ language: "shell", code: "cat data/rows.csv; exit 4" })).toMatchObject({
    outcome: "failed",
    stdout: "1,2\n",
    exitCode: 4,
  });
  await sandbox.close();
});

test("where there is no runsc, it is said what to install", async () => {
  const path = process.env.PATH;
  if (["/usr/bin/runsc", "/bin/runsc", "/usr/sbin/runsc"].some((file) => existsSync(file))) return;
  process.env.PATH = "";
  try {
    const opened = openSandbox("gvisor", { modules: import.meta.url });
    await expect(opened).rejects.toThrow("runsc is not on PATH; install gVisor");
  } finally {
    process.env.PATH = path;
  }
});
