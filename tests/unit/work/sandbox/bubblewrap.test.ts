import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JsonObject, JsonValue } from "everturn/plugin";
import type { Program, Sandbox } from "everturn/sandbox";
import { afterAll, describe, expect, test } from "vitest";
import { bubblewrapHere } from "../../../support/bubblewrap.ts";

const here = await bubblewrapHere();

describe.runIf(here !== undefined)("bubblewrap", () => {
  const sandbox = here as Sandbox;
  afterAll(() => sandbox.close());

  /** What became of programs of one session, one after the other. */
  async function ran(
    programs: (Omit<Program, "language"> & { language?: Program["language"]; time?: number })[],
  ) {
    const session = await sandbox.open();
    const all = [];
    for (const { time = 10, ...program } of programs)
      all.push(await session.run({ language: "python", ...program }, { limits: { time } }));
    await session.close();
    return all;
  }

  test("a program's output, its last expression, its input and its exit code are told", async () => {
    expect(await ran([{ code: "print(input())\n6 * 7", stdin: "read" }, { code: "exit(3)" }])).toMatchObject([
      { outcome: "finished", stdout: "read\n", stderr: "", value: "42", exitCode: 0 },
      { outcome: "failed", stdout: "", exitCode: 3 },
    ]);
    const [failed, text] = await ran([{ code: "def f():\n  1 / 0\nf()" }, { code: "print('" }]);
    expect(failed).toMatchObject({ outcome: "failed", exitCode: 1 });
    expect(failed?.stderr).toMatch(
      /^Traceback .*\n {2}File "<program>", line 3[\s\S]*ZeroDivisionError: division by zero\n$/,
    );
    expect(text?.stderr).toContain("SyntaxError: unterminated string literal");
  });

  test("kept variables are there in the next run", async () => {
    const [, value] = await ran([
      { code: "import math\nx = 5", keep: true },
      { code: "math.factorial(x)", keep: true },
    ]);
    expect(value).toMatchObject({ outcome: "finished", value: "120" });
  });

  test("a run that keeps nothing begins anew", async () => {
    const [, fresh] = await ran([{ code: "x = 5", keep: true }, { code: "x" }]);
    expect(fresh).toMatchObject({ outcome: "failed", stderr: expect.stringContaining("NameError") });
  });

  test("an interrupted program keeps its variables", async () => {
    const [, endless, after] = await ran([
      { code: "0", keep: true }, // so that the interpreter is there
      { code: "x = 6\nwhile True: pass", keep: true, time: 1 },
      { code: "x", keep: true },
    ]);
    expect(endless).toMatchObject({ outcome: "time-limit" });
    expect(endless).not.toHaveProperty("lost");
    expect(after).toMatchObject({ value: "6" });
  });

  test("a program that ends its interpreter is told what is lost, and the next one runs", async () => {
    expect(
      await ran([
        { code: "open('file', 'w').write('1')\nx = 1", keep: true },
        { code: "import os; os._exit(7)", keep: true },
        { code: "import os; (os.listdir('.'), 'x' in globals())", keep: true },
      ]),
    ).toMatchObject([
      { outcome: "finished" },
      { outcome: "ended", exitCode: 7, lost: "variables" },
      { outcome: "finished", value: "(['file'], False)" },
    ]);
  });

  test("JavaScript and shell", async () => {
    if (!sandbox.languages.includes("javascript")) return;
    const [script, module, , kept, failed, shell] = await ran([
      { language: "javascript", code: "console.log(1); [1, 2].map((one) => one * 2)" },
      { language: "javascript", code: "import { sep } from 'node:path';\nconsole.log(sep)" },
      { language: "javascript", code: "const five = 5", keep: true },
      { language: "javascript", code: "five + 1", keep: true },
      { language: "javascript", code: "throw new TypeError('no')" },
      { language: "shell", code: "printf a > b; cat b; exit 4" },
    ]);
    expect(script).toMatchObject({ outcome: "finished", stdout: "1\n", value: "[ 2, 4 ]" });
    expect(module).toMatchObject({ outcome: "finished", stdout: "/\n" });
    expect(kept).toMatchObject({ value: "6" });
    expect(failed).toMatchObject({
      outcome: "failed",
      exitCode: 1,
      stderr: expect.stringContaining("TypeError: no"),
    });
    expect(shell).toMatchObject({ outcome: "failed", stdout: "a", exitCode: 4 });
  });

  test("files go in and out, and not out of the session", async () => {
    const [session, other] = [await sandbox.open({ limits: { disk: 1 } }), await sandbox.open()];
    await session.write({ "data/rows.csv": "1,2\n", bytes: Uint8Array.of(0, 255) });
    const summed = "open('sum', 'w').write(str(sum(map(int, open('data/rows.csv').read().split(',')))))";
    await session.run({ language: "python", code: `${summed}\nimport os; os.symlink('/dev/zero', 'zero')` });
    expect(await session.list()).toEqual([
      { path: "bytes", size: 2 },
      { path: "data/rows.csv", size: 4 },
      { path: "sum", size: 1 },
    ]);
    expect(String(await session.read("sum"))).toBe("3");
    expect(await session.read("bytes")).toEqual(Buffer.of(0, 255));
    expect(await session.read("zero")).toBeUndefined();
    await expect(session.read("../etc/passwd")).rejects.toThrow("“../etc/passwd” is not a valid path in");
    await expect(session.write({ large: Buffer.alloc(2 << 20) })).rejects.toThrow(
      "do not fit into the sandbox",
    );
    expect(await other.list()).toEqual([]);
    await Promise.all([session.close(), other.close()]);
    await expect(session.list()).rejects.toThrow("sandbox session is closed");
  });

  test("names that are not UTF-8, that nobody could open by their path, and that are no names elsewhere are listed and read", async () => {
    const [session, other] = [await sandbox.open(), await sandbox.open()];
    const names = ["caf\udce9.txt", "\udced\udca0\udc80", "é", "a\nb", " ", "\\", "__proto__", "constructor"];
    const bytes =
      "[b'caf\\xe9.txt', b'\\xed\\xa0\\x80', 'é'.encode(), b'a\\nb', b' ', b'\\\\', b'__proto__', b'constructor']";
    await session.run({
      language: "python",
      code: `import os\nfor name in ${bytes}:\n  with open(name, 'wb') as f: f.write(name)\nfor _ in range(30):\n  os.mkdir('d' * 200)\n  os.chdir('d' * 200)\nopen('deep', 'w').write('deep')`,
    });
    const deep = `${`${"d".repeat(200)}/`.repeat(30)}deep`;
    const listed = await session.list();
    expect(listed.map(({ path }) => path).sort()).toEqual([...names, deep].sort());
    expect(await session.read("caf\udce9.txt")).toEqual(Buffer.from("caf\xe9.txt", "latin1"));
    expect(String(await session.read(deep))).toBe("deep");
    const files: [string, Uint8Array][] = [];
    for (const name of names) files.push([name, (await session.read(name)) ?? Buffer.of()]);
    await other.write(Object.fromEntries(files));
    const same = `import os\nsorted(os.listdir(b'.')) == sorted(${bytes}) and all(open(name, 'rb').read() == name for name in os.listdir(b'.'))`;
    expect(await other.run({ language: "python", code: same })).toMatchObject({ value: "True" });
    await expect(session.read("\ud800")).rejects.toMatchObject({ code: "SANDBOX_PATH_INVALID" });
    await expect(session.write({ "\udfff": "" })).rejects.toMatchObject({ code: "SANDBOX_PATH_INVALID" });
    await Promise.all([session.close(), other.close()]);
  });

  test("files of any size are written and read in parts", async () => {
    const session = await sandbox.open({ limits: { memory: 64, disk: 64 } });
    const large = Buffer.alloc(20 * 2 ** 20 + 3, "0123456789");
    await session.write({ before: "b", large, after: "", last: Buffer.alloc(4 * 2 ** 20, "4") });
    expect(large.equals((await session.read("large")) ?? Buffer.of())).toBe(true);
    expect(await session.read("after")).toEqual(Buffer.of());
    expect((await session.read("last"))?.length).toBe(4 * 2 ** 20);
    await session.close();
  });

  test("a folder that is too deep is listed with a slash", async () => {
    const session = await sandbox.open();
    const code =
      "import os\nfor _ in range(200):\n  os.mkdir('d')\n  os.chdir('d')\nopen('deep', 'w').close()";
    await session.run({ language: "python", code });
    expect((await session.list()).map(({ path }) => path)).toEqual([`${"d/".repeat(101)}`]);
    await session.close();
  });

  test("a program limits and schedules itself, and nobody else", async () => {
    const code = [
      "import os, resource, subprocess",
      "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))",
      "os.sched_setaffinity(0, os.sched_getaffinity(0))",
      "os.nice(1)",
      "child = subprocess.Popen(['sleep', '60'])",
      "refused = 0",
      "for pid in (1, child.pid):",
      "  for call in (lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3)), lambda: os.setpriority(os.PRIO_PROCESS, pid, 5), lambda: os.sched_setaffinity(pid, {0}), lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))):",
      "    try: call()",
      "    except PermissionError: refused += 1",
      "(resource.getrlimit(resource.RLIMIT_NOFILE), os.getpriority(os.PRIO_PROCESS, 0), refused)",
    ];
    expect(await ran([{ code: code.join("\n") }])).toMatchObject([
      { outcome: "finished", value: "((64, 64), 1, 8)" },
    ]);
  });

  test("what is kept and hinders its session costs the session its files, and never fails it", async () => {
    const session = await sandbox.open();
    const code = [
      "import os",
      "if os.fork() == 0:",
      "  while True:",
      "    try:",
      "      if not os.path.isdir('asked'): os.unlink('asked')",
      "      os.makedirs('asked/again')",
      "    except OSError: pass",
    ];
    await session.run({ language: "python", code: code.join("\n"), keep: true });
    for (let round = 0; round < 5; round++) await session.write({ asked: "x", more: "y" });
    await session.write({ asked: Buffer.alloc(9 * 2 ** 20, "x") }); // in parts, between which it goes
    expect(await session.run({ language: "python", code: "1" })).toMatchObject({ value: "1" });
    await session.close();
  });

  test("a run whose signal aborts is thrown, and the session goes on without what it had", async () => {
    const session = await sandbox.open();
    await session.run({ language: "python", code: "x = 1", keep: true });
    const signal = AbortSignal.timeout(200);
    const running = session.run({ language: "python", code: "while True: pass", keep: true }, { signal });
    await expect(running).rejects.toThrow("aborted due to timeout");
    expect(await session.run({ language: "python", code: "'x' in globals()", keep: true })).toMatchObject({
      value: "False",
    });
    await session.close();
  });

  test("one that was started ahead is handed out once, and not at all if it has ended; what ends one is no program's doing", async () => {
    const limits = { time: 9, disk: 33 };
    const opened = async () => {
      const handles: JsonValue[] = [];
      const session = await sandbox.open({ limits, hold: (handle) => handles.push(handle) });
      return { session, pid: Number((handles[0] as JsonObject).pid) };
    };
    const look = { language: "shell", code: "ls -A; touch left-behind" } as const;
    const before = new Set(childrenOf(process.pid));
    const used = new Set<number>();
    const waiting = () => childrenOf(process.pid).filter((pid) => !before.has(pid) && !used.has(pid));
    const next = async () => {
      const one = await opened();
      expect(used.has(one.pid)).toBe(false);
      used.add(one.pid);
      expect(await one.session.run(look)).toMatchObject({ outcome: "finished", stdout: "" });
      return one;
    };
    for (let round = 0; round < 2; round++) await (await next()).session.close();
    await expect.poll(waiting, { timeout: 100_000 }).not.toEqual([]);
    const ready = waiting();
    const second = await next();
    expect(ready, "it was there before").toContain(second.pid);
    await second.session.close();

    await expect.poll(waiting, { timeout: 100_000 }).not.toEqual([]);
    const killed = waiting();
    for (const pid of killed) process.kill(pid, "SIGKILL");
    await expect
      .poll(() => killed.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 100_000 })
      .toEqual([]);
    const third = await next();
    expect(killed).not.toContain(third.pid);

    const running = third.session.run({ language: "python", code: "while True: pass" });
    setTimeout(() => process.kill(third.pid, "SIGKILL"), 100);
    await expect(running).rejects.toMatchObject({
      code: "SANDBOX_FAILED",
      params: { reason: "it was ended by SIGKILL" },
    });
    expect(await third.session.run(look)).toMatchObject({ outcome: "finished", stdout: "" });
    await third.session.close();
  });

  test("with who opened it, killed by SIGKILL, all that runs in it ends", async () => {
    const script = join(import.meta.dirname, "..", "..", "..", "support", "sandbox-holder.ts");
    const holder = spawn(process.execPath, [script], {
      stdio: ["ignore", "pipe", "inherit"],
      env: process.env,
    });
    const [pid] = await once(createInterface({ input: holder.stdout }), "line");
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    holder.kill("SIGKILL");
    await expect.poll(() => existsSync(`/proc/${pid}`), { timeout: 100_000 }).toBe(false);
  });
});

/** The processes that a process has started and that are there. */
function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/children`);
  const children = tasks
    .filter((task) => existsSync(task))
    .flatMap((task) => readFileSync(task, "utf8").split(" "));
  return children.filter((child) => child !== "").map(Number);
}
