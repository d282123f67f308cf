import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "everturn/sandbox";
import { type Files, laidOver, roomFor } from "./files.ts";
import type { TaskTests } from "./task-tests.ts";

/** Which tests passed: those that the task names, or else all. */
export interface TestVerdict {
  failToPass: boolean[];
  passToPass: boolean[];
}

export interface JudgeLimits {
  /** Seconds of one test, and of all. */
  time: number;
  total: number;
  memory: number;
}

const values = text("values.py");
const runTests = values + text("tests.py");
const runCode = values + text("code.py");
/** The maximum bytes of the verdict, which has some for each test. */
const output = 2 ** 20;
/** The folders of a workspace that contain modules. */
const roots = ["", "src/"];

/**
 * Runs a task's tests against the modules of a workspace. The tests and the modules are in two processes of
 * the same sandbox. The code can't look into the tests' process, and only values and requests pass between
 * the two, so it can't affect the tests. The verdict carries a random number that the code does not know.
 * Without it, no test counts as passed.
 */
export async function judgeTests(
  sandbox: Sandbox,
  files: Files,
  { files: over, tests, failToPass, passToPass }: TaskTests,
  limits: JudgeLimits,
  signal: AbortSignal,
): Promise<TestVerdict | { missing: string }> {
  const inMemory = Object.fromEntries(Object.entries(over).filter(([path]) => path.endsWith(".py")));
  const onDisk = Object.fromEntries(Object.entries(over).filter(([path]) => !path.endsWith(".py")));
  const names = [...failToPass, ...passToPass];
  const laid = laidOver(files, onDisk);
  const { time, total, memory } = limits;
  const session = await sandbox.open({
    limits: { time: total, memory, disk: roomFor(laid), output },
    signal,
  });
  try {
    await session.write(laid);
    const nonce = randomBytes(16).toString("hex");
    const request = {
      nonce,
      tests,
      names,
      time,
      total,
      files: inMemory,
      program: runCode,
      modules: modulesOf(Object.keys(laid)),
      roots: roots.map((root) => `/work/${root}`),
      memory: Math.floor((memory * 2 ** 20) / 2),
    };
    const stdin = JSON.stringify(request);
    const ran = await session.run({ language: "python", code: runTests, stdin }, { signal });
    const said = ran.stdout.split("\n").filter((line) => line.startsWith(nonce));
    if (ran.outcome !== "finished" || said.length !== 1) return { failToPass: [false], passToPass: [] };
    const verdict: Said = JSON.parse(said[0]?.slice(nonce.length) ?? "");
    if ("trouble" in verdict) return { missing: verdict.trouble };
    if (verdict.unknown.length > 0)
      return { missing: `the task's tests have no ${verdict.unknown.slice(0, 3).join(", ")}` };
    if (names.length > 0)
      return {
        failToPass: verdict.named.slice(0, failToPass.length),
        passToPass: verdict.named.slice(failToPass.length),
      };
    if (verdict.results.length === 0) return { missing: "the task's tests have nothing that is tested" };
    return { failToPass: verdict.results, passToPass: [] };
  } finally {
    await session.close();
  }
}

type Said = { trouble: string } | { results: boolean[]; named: boolean[]; unknown: string[] };

/** The names of the modules in these files, and of their packages. */
function modulesOf(paths: string[]): string[] {
  const names = roots.flatMap((root) =>
    paths
      .filter((path) => path.endsWith(".py") && path.startsWith(root))
      .map((path) => path.slice(root.length, -3).split("/"))
      .flatMap((parts) => parts.map((_, end) => parts.slice(0, end + 1).join("."))),
  );
  return [...new Set(names)];
}

function text(name: string): string {
  return `${readFileSync(join(import.meta.dirname, name), "utf8")}\n`;
}
