import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openSandbox, type Sandbox } from "everturn/sandbox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { denoHere } from "../../../support/deno.ts";
import { ranInTurn } from "../../../support/ran-in-turn.ts";

test("where the packages are not, it is said what to install", async () => {
  const modules = pathToFileURL(join(mkdtempSync(join(tmpdir(), "no-packages-")), "tool.js"));
  await expect(openSandbox("wasm", { modules })).rejects.toThrow("pyodide quickjs-emscripten-core");
});

const hasDeno = await denoHere();

describe.runIf(hasDeno)("WebAssembly", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox("wasm", { modules: import.meta.url });
  });
  afterAll(() => sandbox.close());

  test("Python: output, the last expression, input, files, what is kept and what is not", async () => {
    const session = await sandbox.open();
    await session.write({ "data/rows.csv": "1,2\n", bytes: Uint8Array.of(0, 255) });
    const code = "x = 5\nopen('sum', 'w').write(input())\nprint(open('data/rows.csv').read())\n6 * 7";
    expect(await session.run({ language: "python", code, stdin: "3", keep: true })).toEqual({
      outcome: "finished",
      stdout: "1,2\n\n",
      stderr: "",
      value: "42",
      exitCode: 0,
      seconds: expect.any(Number),
    });
    expect(
      await session.run({ language: "python", code: "x, hash('a'), exit(3)", keep: true }),
    ).toMatchObject({
      outcome: "failed",
      exitCode: 3,
    });
    const fresh = "import os, random\nprint(sorted(os.listdir('.')), random.random())\ndef f(): x\nf()";
    const [one, other] = await Promise.all(
      [session, await sandbox.open()].map((where) => where.run({ language: "python", code: fresh })),
    );
    expect(one?.stderr).toMatch(
      /^Traceback .*\n {2}File "<program>", line 4[\s\S]*NameError: name 'x' is not defined\n$/,
    );
    expect(one?.stdout).toMatch(/^\['bytes', 'data', 'sum'\] /);
    expect(other?.stdout).toMatch(/^\[\] /);
    expect(one?.stdout.split(" ").at(-1)).not.toBe(other?.stdout.split(" ").at(-1)); // though both began as one snapshot
    expect(await session.list()).toEqual([
      { path: "bytes", size: 2 },
      { path: "data/rows.csv", size: 4 },
      { path: "sum", size: 1 },
    ]);
    expect(String(await session.read("sum"))).toBe("3");
    await session.close();
    await expect(session.list()).rejects.toThrow("sandbox session is closed");
  });

  test("Python reads its input by every way there is, and each program has its own", async () => {
    const session = await sandbox.open();
    const ways = [
      "open(0).read()",
      "open('/dev/stdin').read()",
      "__import__('os').read(0, 100).decode()",
      "__import__('sys').stdin.buffer.read().decode()",
      "input() + '\\n' + input() + '\\n'",
    ];
    for (const [index, way] of ways.entries()) {
      const stdin = `${index} 4\n5\n`;
      const ran = await session.run({ language: "python", code: `print(${way}, end="")`, stdin, keep: true });
      expect([way, ran.outcome, ran.stdout, ran.stderr]).toEqual([way, "finished", stdin, ""]);
    }
    const after = await session.run({ language: "python", code: "input()", keep: true });
    expect(after.stderr).toContain("EOFError");
    await session.close();
  });

  test("nothing leads out of Python: no JavaScript, no network, no files of the machine", async () => {
    const [script, mount, call, network, files, environment, thread] = await ranInTurn(sandbox, [
      "from pyodide.code import run_js; run_js('1')",
      "import pyodide_js; pyodide_js.mountNodeFS('/mnt', '/')",
      "import pyodide_js; pyodide_js._api.scheduleCallback.constructor('return globalThis')()",
      "import socket; socket.create_connection(('127.0.0.1', 7233), 1)",
      "import os; [os.path.exists(path) for path in ('/etc/passwd', '/proc/self/environ', '/root', '/usr/bin')]",
      "import os; [name for name in os.environ if 'PATH' in name or 'EVERTURN' in name]",
      "import threading; threading.Thread(target=print).start()",
    ]);
    expect(script).toMatchObject({ outcome: "failed", stderr: expect.stringContaining("ImportError") });
    expect(mount).toMatchObject({ outcome: "failed", stderr: expect.stringContaining("AttributeError") });
    expect(call).toMatchObject({ outcome: "failed", stderr: expect.stringContaining("Code generation") });
    expect(network).toMatchObject({ outcome: "failed" });
    expect(files).toMatchObject({ value: "[False, False, False, False]" });
    expect(environment?.value).not.toContain(process.env.PATH);
    expect(thread).toMatchObject({
      outcome: "failed",
      stderr: expect.stringContaining("can't start new thread"),
    });
  });

  test("a program can't speak in its sandbox's place, nor stop its host by what is no message", async () => {
    const forged = JSON.stringify({
      type: "ran",
      outcome: "finished",
      value: "forged",
      put: {},
      removed: [],
    });
    const [said, garbage, after, api] = await ranInTurn(sandbox, [
      `import ctypes\nlog = ctypes.CDLL(None).emscripten_console_log\nlog(b'''${forged}''')\n'own'`,
      "ctypes.CDLL(None).emscripten_console_error(b'no message'), log(b'no message'), 'own'",
      "'still here'",
      "import pyodide_js; list(pyodide_js._api.config.object_keys())",
    ]);
    expect(said).toMatchObject({ outcome: "finished", value: "'own'", stdout: "" });
    expect(garbage).toMatchObject({ outcome: "finished", value: expect.stringContaining("'own'") });
    expect(after).toMatchObject({ outcome: "finished", value: "'still here'" });
    expect(api).toMatchObject({ value: "['enableRunUntilComplete']" });
  });

  test("JavaScript: console, files, timers, modules, what is kept, and its limits", async () => {
    const [values, file, kept, later, thrown, endless, out, own, memory] = await ranInTurn(
      sandbox,
      [
        "console.log('a', [1, { b: 2 }]); globalThis.y = 5; [1, 2].map((one) => one * 2)",
        "const fs = require('node:fs'); fs.writeFileSync('f', 'text'); fs.readFileSync('f', 'utf8')",
        "y + 1",
        "await new Promise((done) => setTimeout(done, 20)); console.log('later'); process.exit(4)",
        "throw new TypeError('no')",
        "for (; /* while True */ ;);",
        "[typeof Deno, typeof fetch, typeof postMessage, Function('return typeof this.Deno')()]",
        "Map.prototype.clear = () => { for (; /* while True */ ;); }; 1", // which its timers are cleared with
        "const all = []; for (;;) all.push(new Uint8Array(2 ** 24))",
      ],
      { language: "javascript" },
    );
    expect(values).toMatchObject({ outcome: "finished", stdout: "a [ 1, { b: 2 } ]\n", value: "[ 2, 4 ]" });
    expect(file).toMatchObject({ value: '"text"' });
    expect(kept).toMatchObject({ value: "6" });
    expect(later).toMatchObject({ outcome: "failed", stdout: "later\n", exitCode: 4 });
    expect(thrown).toMatchObject({ outcome: "failed", stderr: expect.stringContaining("TypeError: no") });
    expect(endless).toMatchObject({ outcome: "time-limit" });
    expect(memory).toMatchObject({ outcome: "memory-limit" });
    expect(own).toMatchObject({ outcome: "finished", value: "1" });
    expect(out?.value).toBe(`[ ${Array(4).fill('"undefined"').join(", ")} ]`);
  });
});
