import type { Sandbox } from "everturn/sandbox";
import type { ProgramTests } from "./task-tests.ts";
import type { JudgeLimits, Verdict } from "./verdict.ts";

/**
 * Runs a program with each input, and compares its output line by line, ignoring spaces at the ends. The
 * expected output is not in the program's sandbox.
 */
export async function judgePrograms(
  sandbox: Sandbox,
  code: string,
  { language, pairs }: ProgramTests,
  limits: JudgeLimits,
  signal: AbortSignal,
): Promise<Verdict | { missing: string }> {
  const known = sandbox.languages.find((one) => one === language);
  if (known === undefined) return { missing: `the sandbox ${sandbox.kind} runs no ${language}` };
  const session = await sandbox.open({ limits: { time: limits.time, memory: limits.memory }, signal });
  const end = performance.now() + 1000 * limits.total;
  try {
    const verdict: Verdict = { passed: 0, tests: pairs.length, reasons: [] };
    for (const [index, { input, output }] of pairs.entries()) {
      const time = Math.min(limits.time, (end - performance.now()) / 1000);
      if (time <= 0) {
        verdict.reasons.push(`input ${index + 1}: no time is left of the ${limits.total} s for all inputs`);
        break;
      }
      const ran = await session.run({ language: known, code, stdin: input }, { signal, limits: { time } });
      if (ran.outcome === "finished" && plain(ran.stdout) === plain(output)) verdict.passed++;
      else
        verdict.reasons.push(
          `input ${index + 1}: ${ran.outcome === "finished" ? "another output" : ran.outcome}`,
        );
    }
    return verdict;
  } finally {
    await session.close();
  }
}

function plain(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim();
}
