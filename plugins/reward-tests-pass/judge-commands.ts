import type { Sandbox } from "everturn/sandbox";
import { type Files, laidOver, roomFor } from "./files.ts";
import type { JudgeLimits } from "./judge-tests.ts";
import type { TaskTests } from "./task-tests.ts";

/**
 * Runs each of a task's commands over its own copy of the files, and compares its output line by line,
 * ignoring spaces at the ends. The expected output is not in the sandbox. Commands that don't fit in `total`
 * seconds fail.
 */
export async function judgeCommands(
  sandbox: Sandbox,
  files: Files,
  { files: over, commands }: TaskTests,
  { time, total, memory }: JudgeLimits,
  signal: AbortSignal,
): Promise<boolean[]> {
  const laid = laidOver(files, over);
  const end = performance.now() + 1000 * total;
  const passed: boolean[] = [];
  for (const { command, stdin, stdout } of commands) {
    const left = (end - performance.now()) / 1000;
    if (left <= 0) {
      passed.push(false);
      continue;
    }
    const session = await sandbox.open({ limits: { time, memory, disk: roomFor(laid) }, signal });
    try {
      await session.write(laid);
      const limits = { time: Math.min(time, left) };
      const ran = await session.run({ language: "shell", code: command, stdin }, { signal, limits });
      passed.push(ran.outcome === "finished" && plain(ran.stdout) === plain(stdout));
    } finally {
      await session.close();
    }
  }
  return passed;
}

function plain(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim();
}
