import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openSandbox, type Program, type Sandbox } from "everturn/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { denoHere } from "../../../support/deno.ts";
import { ranInTurn } from "../../../support/ran-in-turn.ts";

const hasDeno = await denoHere();

describe.runIf(hasDeno)("WebAssembly", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox("wasm", { modules: import.meta.url });
  });
  afterAll(() => sandbox.close());

  test("what a program takes too much of is told, and what was kept stays where the interpreter does", async () => {
    const [, endless, memory, disk, output, kept, stack, after] = await ranInTurn(sandbox, [
      "x = 1",
      "while True: pass",
      "b = bytearray(2 << 28)",
      "open('f', 'wb').write(bytes(8 << 20))",
      "for _ in range(10**5): print('y' * 100)",
      "x",
      "import sys; sys.setrecursionlimit(10**9)\ndef f(n): return f(n + 1) + 1\nf(0)",
      "'x' in globals()",
    ]);
    expect(endless).toMatchObject({ outcome: "time-limit" });
    expect(memory).toMatchObject({ outcome: "memory-limit", stderr: expect.stringContaining("MemoryError") });
    expect(disk).toMatchObject({ outcome: "disk-limit", stderr: expect.stringContaining("No space left") });
    expect(output).toMatchObject({ outcome: "output-limit" });
    expect(output?.stdout.length).toBe(65_536);
    expect(kept).toMatchObject({ outcome: "finished", value: "1" });
    expect(stack).toMatchObject({ outcome: "ended", lost: "variables" });
    expect(after).toMatchObject({ outcome: "finished", value: "False" });
  });

  test("promises, callbacks and coroutines without an end are stopped at the time limit", async () => {
    const floods = [
      "const f = () => Promise.resolve().then(f); f() /* while True */",
      "const g = () => queueMicrotask(g); g() /* while True */",
      "(async () => { for await (const _ of (async function* () { for (;;) yield 1; })()); })() /* while True */",
      "const f = () => Promise.resolve().then(f);\nawait f() /* while True */",
      "const f = () => Promise.resolve().then(f); f(); process.exit(3)",
      "1 + 1",
    ];
    const told = await ranInTurn(sandbox, floods, { language: "javascript" });
    expect(told.map(({ outcome }) => outcome)).toEqual([
      ...Array(4).fill("time-limit"),
      "failed",
      "finished",
    ]);
    expect(told[4]).toMatchObject({ exitCode: 3 });
    expect(told[5]).toMatchObject({ value: "2" });
    expect(told[0]).toMatchObject({ lost: "variables" });
    const [caught, coroutines] = await ranInTurn(sandbox, [
      "try:\n  while True: pass\nexcept KeyboardInterrupt: pass\n1",
      "import asyncio\nasync def f():\n  while True: await asyncio.sleep(0)\nasyncio.run(f())",
    ]);
    expect(caught).toMatchObject({ outcome: "time-limit" });
    expect(coroutines).toMatchObject({ outcome: "time-limit" });
  });

  test("what a program leaves in a file's place goes when the file is written again", async () => {
    const session = await sandbox.open();
    const run = (code: string, keep: boolean, language: Program["language"] = "python") =>
      session.run({ language, code, keep });
    for (const keep of [false, true]) {
      await session.write({ asked: "1", "folder/asked": "1" });
      const swap =
        "import os, shutil\nos.unlink('asked')\nos.makedirs('asked/full')\nopen('asked/full/x', 'w').close()\nos.chmod('asked', 0)\nshutil.rmtree('folder')\nopen('folder', 'w').close()\nopen('__proto__', 'w').close()";
      expect(await run(swap, keep)).toMatchObject({ outcome: "finished" });
      await session.write({ asked: "2", "folder/asked": "3" });
      const read = "open('asked').read() + open('folder/asked').read()";
      expect(await run(read, keep)).toMatchObject({ outcome: "finished", value: "'23'" });
      expect((await session.list()).map(({ path }) => path)).toEqual(["__proto__", "asked", "folder/asked"]);
    }
    const script =
      "const fs = require('fs'); const said = []; for (const path of ['.', 'folder', 'asked/below']) { try { fs.writeFileSync(path, 'x'); said.push('written') } catch (error) { said.push(error.code) } } said.join()";
    expect(await run(script, false, "javascript")).toMatchObject({ value: '"EISDIR,EISDIR,ENOTDIR"' });
    await session.close();
  });

  test("a run whose signal aborts is thrown, and the session goes on without what it had", async () => {
    const session = await sandbox.open();
    const running = session.run(
      { language: "python", code: "while True: pass", keep: true },
      { signal: AbortSignal.timeout(200) },
    );
    await expect(running).rejects.toThrow("aborted due to timeout");
    expect(await session.run({ language: "python", code: "1" })).toMatchObject({ value: "1" });
    await session.close();
  });

  test("with who opened it, killed by SIGKILL, the program ends", async () => {
    const script = join(import.meta.dirname, "..", "..", "..", "support", "wasm-holder.ts");
    const holder = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [pid] = await once(createInterface({ input: holder.stdout }), "line");
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    holder.kill("SIGKILL");
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 100_000 }).toBe(false);
  });
});
