import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox } from "everturn/sandbox";
import { afterEach, expect, test, vi } from "vitest";
import { jsonServer } from "../../../support/json-server.ts";

interface Request {
  code: string;
  files: Record<string, string>;
  fetch_files: string[];
}

/** What a server of Sandbox Fusion does with isolation `none`: it writes the files, runs the program with Python, and reads the files wished. */
function fusion({ code, files, fetch_files }: Request) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-fusion-"));
  const path = (name: string) => join(folder, name);
  for (const [name, content] of Object.entries(files))
    writeFileSync(path(name), Buffer.from(content, "base64"));
  writeFileSync(path("program.py"), code);
  const { status, stdout, stderr } = spawnSync("/usr/bin/python3", [path("program.py")], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, SERVERS_SECRET: "hidden" },
  });
  const fetched = fetch_files.flatMap((name) => {
    try {
      return [[name, readFileSync(path(name)).toString("base64")]];
    } catch {
      return [];
    }
  });
  rmSync(folder, { recursive: true });
  const run_result = { status: "Finished", execution_time: 0.1, return_code: status, stdout, stderr };
  return {
    status: status === 0 ? "Success" : "Failed",
    message: "",
    compile_result: null,
    run_result,
    files: Object.fromEntries(fetched),
  };
}

afterEach(() => vi.unstubAllEnvs());

const hasPython = existsSync("/usr/bin/python3");

test.runIf(hasPython)(
  "Sandbox Fusion: a session's files go with each program; its faults are told",
  async () => {
    vi.stubEnv("FUSION_TOKEN", "of-the-key");
    const { url, asked } = await jsonServer(({ body }) => ({ value: fusion(body) }));
    const wish = { kind: "sandbox-fusion", url: `${url}/below`, key: "FUSION_TOKEN" };
    const sandbox = await openSandbox(wish, { modules: import.meta.url });
    expect(asked[0]).toMatchObject({
      path: "/below/run_code",
      headers: { authorization: "Bearer of-the-key" },
      body: { language: "python", run_timeout: 20 },
    });
    const session = await sandbox.open({ limits: { disk: 1, output: 256 } });
    await session.write({ "data/rows.csv": "1,2\n", bytes: Uint8Array.of(0, 255) });
    const run = (code: string, stdin = "") => session.run({ language: "python", code, stdin });
    const first =
      "import os\nopen('sum', 'w').write(input())\nos.remove('bytes')\nprint(open('data/rows.csv').read())\n6 * 7";
    expect(await run(first, "3")).toEqual({
      outcome: "finished",
      stdout: "1,2\n\n",
      stderr: "",
      value: "42",
      exitCode: 0,
      seconds: expect.any(Number),
    });
    expect(await session.list()).toEqual([
      { path: "data/rows.csv", size: 4 },
      { path: "sum", size: 1 },
    ]);
    expect(await run("1 / 0")).toMatchObject({
      outcome: "failed",
      exitCode: 1,
      stderr: expect.stringContaining("ZeroDivisionError"),
    });
    expect(await run("import os\nsorted(os.listdir('.')), 'SERVERS_SECRET' in os.environ")).toMatchObject({
      value: "(['data', 'sum'], False)",
    });
    expect(await run("print('a' * 300)")).toMatchObject({ outcome: "output-limit", stdout: "a".repeat(256) });
    const full = "a = 'a' * 700000\nopen('a', 'w').write(a)\nopen('b', 'w').write(a)";
    expect(await run(full)).toMatchObject({ outcome: "disk-limit" });
    expect(await run("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")).toMatchObject({
      outcome: "ended",
    });
    expect(await session.run({ language: "shell", code: "cat sum; exit 4" })).toMatchObject({
      outcome: "failed",
      stdout: "3",
      exitCode: 4,
    });
    const late = session.run({ language: "python", code: "while True: pass" }, { limits: { time: 0.5 } });
    expect(await late).toMatchObject({ outcome: "time-limit" });
    expect(String(await session.read("sum"))).toBe("3");
    await expect(session.run({ language: "python", code: "1", keep: true })).rejects.toThrow(
      "does not keep variables between programs. Set `keep: false`",
    );
    await expect(session.write({ large: Buffer.alloc(2 << 20) })).rejects.toThrow("do not fit");
    await session.close();
    await expect(run("1")).rejects.toThrow("sandbox session is closed");
  },
);

test.runIf(hasPython)(
  "Sandbox Fusion: what the server gets wrong is worth another attempt, what a program forges is its own",
  async () => {
    let say = (request: Request): { status?: number; value: unknown } => ({ value: fusion(request) });
    const { url } = await jsonServer(({ body }) => say(body));
    const sandbox = await openSandbox({ kind: "sandbox-fusion", url }, { modules: import.meta.url });
    const session = await sandbox.open();
    const run = (said: typeof say) => {
      say = said;
      return session.run({ language: "python", code: "1" });
    };
    const answered = { status: "Success", run_result: { status: "Finished", stdout: "begun\n" }, files: {} };
    const failures: [status: number, value: unknown, reason: string][] = [
      [503, "busy", "it answered 503: busy"],
      [200, '{"status": "Succ', "its answer is not JSON"],
      [200, [1], "its answer is not in Sandbox Fusion's format: [1]"],
      [200, { ...answered, run_result: null }, "is not in Sandbox Fusion's format"],
      [200, { ...answered, files: [] }, "is not in Sandbox Fusion's format"],
      [200, { ...answered, status: "SandboxError", message: "no disk" }, "failed: no disk"],
      [200, { ...answered, run_result: { stderr: "no python" } }, "did not begin: no python"],
    ];
    for (const [status, value, reason] of failures) {
      const error = await run(() => ({ status, value })).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "SANDBOX_FAILED", retryable: true });
      expect(String(error)).toContain(reason);
    }
    const whole = { outcome: "finished", stdout: "", stderr: "", seconds: 1, put: {}, removed: [] };
    for (const forged of [
      "",
      "{",
      "[]",
      { ...whole, outcome: "won" },
      { ...whole, stdout: 1 },
      { ...whole, put: [] },
      { ...whole, put: { "../a": "" } },
      { ...whole, put: { a: 1 } },
      { ...whole, removed: ["/etc/passwd"] },
    ]) {
      const content = Buffer.from(typeof forged === "string" ? forged : JSON.stringify(forged)).toString(
        "base64",
      );
      const answer = ({ fetch_files: [name = ""] }: Request) => ({
        value: { ...answered, files: { [name]: content } },
      });
      expect(await run(answer)).toMatchObject({ outcome: "ended" });
    }
    expect(await run(() => ({ value: answered }))).toMatchObject({ outcome: "ended" });
    const late = { ...answered, run_result: { status: "TimeLimitExceeded", stdout: "begun\n" } };
    expect(await run(() => ({ value: late }))).toMatchObject({ outcome: "time-limit" });
    expect(await session.list()).toEqual([]);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(session.run({ language: "python", code: "1" }, { signal })).rejects.toThrow("enough");
  },
);

test("where there is no server, or none of that kind, or no key, it is said", async () => {
  const opened = (wish: Parameters<typeof openSandbox>[0]) => openSandbox(wish, { modules: import.meta.url });
  await expect(opened({ kind: "sandbox-fusion", url: "http://127.0.0.1:9" })).rejects.toThrow(
    /SANDBOX_MISSING|No sandbox is available \(requested: sandbox-fusion\).*127\.0\.0\.1:9/,
  );
  await expect(
    opened({ kind: "sandbox-fusion", url: "http://127.0.0.1:9", key: "NOWHERE_SET" }),
  ).rejects.toThrow("the environment variable NOWHERE_SET is not set");
  await expect(opened({ kind: "sandbox-fusion", url: "127.0.0.1" })).rejects.toThrow(
    "is not a kind of sandbox",
  );
  await expect(opened({ kind: "judge0", url: "http://127.0.0.1:9" })).rejects.toThrow(
    "is not a kind of sandbox",
  );
  await expect(opened("sandbox-fusion")).rejects.toThrow("{ kind: sandbox-fusion, url: … }");
});
