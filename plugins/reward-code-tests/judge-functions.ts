import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "everturn/plugin";
import type { Ran, Sandbox, SandboxSession } from "everturn/sandbox";
import type { FunctionTests } from "./task-tests.ts";
import type { Verdict } from "./verdict.ts";

interface Limits {
  time: number;
  memory: number;
}

/** More calls than that no answer is asked for. */
const mostCalls = 20_000;
/** How often tests are run to find the calls that they make: those of which one depends on what another returned. */
const mostPasses = 40;
const values = text("values.py");
const runAnswer = values + text("answer.py");
const runTests = values + text("tests.py");

/**
 * Runs tests against an answer's functions, the tests in one sandbox and the answer in another, so that nothing that the answer does
 * reaches what judges it: only values pass between them, as JSON. The tests run first to find which calls they make, the answer makes them, and the tests run
 * again with what it returned. Throws if the tests themselves can't be run.
 */
export async function judgeFunctions(
  sandbox: Sandbox,
  code: string,
  tests: FunctionTests,
  limits: Limits,
  signal: AbortSignal,
): Promise<Verdict | { missing: string }> {
  const [judge, defendant] = await Promise.all(
    [0, 1].map(() => sandbox.open({ limits: { time: limits.time, memory: limits.memory }, signal })),
  );
  if (judge === undefined || defendant === undefined) throw new Error("no sandbox was opened");
  try {
    let calls: JsonValue[] = [];
    let answered: Answered = { results: [], isEnded: false, why: "" };
    for (let pass = 1; pass <= mostPasses; pass++) {
      const { setup, text, functions, pairs } = tests;
      const found = await tried(
        judge,
        { setup, text, functions, pairs, calls, ...answered, most: mostCalls },
        signal,
      );
      if (typeof found === "string") {
        // What an answer returned may be too much for the tests: that is the answer's doing.
        if (calls.length === 0) return { missing: `the task's tests can't be run: ${found}` };
        return { passed: 0, tests: 1, reasons: [`with what the answer returned, the tests end by ${found}`] };
      }
      if (found.isWhole)
        return { ...found, reasons: [...found.reasons, answered.why].filter((why) => why !== "") };
      calls = found.calls;
      answered = await answersTo(defendant, calls, `${tests.setup}\n${code}`, signal);
    }
    return {
      missing: `the task's tests don't make the same calls again, or more than ${mostPasses} that depend on each other`,
    };
  } finally {
    await Promise.all([judge.close(), defendant.close()]);
  }
}

interface Found extends Verdict {
  calls: JsonValue[];
  /** Every call was answered: it is the verdict. */
  isWhole: boolean;
}

/** Runs the tests with the answers that are known, or says why they did not come to an end. */
async function tried(
  session: SandboxSession,
  request: JsonObject,
  signal: AbortSignal,
): Promise<Found | string> {
  await session.write({ "request.json": JSON.stringify(request), "verdict.json": "" });
  const ran = await session.run({ language: "python", code: runTests }, { signal });
  const written = ran.lost === "everything" ? undefined : await session.read("verdict.json");
  if (ran.outcome !== "finished" || written === undefined || written.length === 0) return ending(ran);
  const found: Found & { trouble: string | null } = JSON.parse(new TextDecoder().decode(written));
  if (found.trouble !== null) return found.trouble;
  return found.isWhole && found.tests === 0 ? "having nothing that is tested" : found;
}

interface Answered {
  /** What each call returned, a line of JSON that nobody has looked at. */
  results: string[];
  /** The answer was stopped before it made all calls. */
  isEnded: boolean;
  why: string;
  [key: string]: JsonValue;
}

async function answersTo(
  session: SandboxSession,
  calls: JsonValue[],
  program: string,
  signal: AbortSignal,
): Promise<Answered> {
  await session.write({ "request.json": JSON.stringify({ program, calls }), "results.jsonl": "" });
  const ran = await session.run({ language: "python", code: runAnswer }, { signal });
  const written = ran.lost === "everything" ? undefined : await session.read("results.jsonl");
  const lines = new TextDecoder().decode(written).split("\n").slice(0, -1);
  const isEnded = lines.length < calls.length;
  return { results: lines.slice(0, calls.length), isEnded, why: isEnded ? `the answer: ${ending(ran)}` : "" };
}

function ending({ outcome, stderr }: Ran): string {
  const last = stderr.trim().split("\n").at(-1);
  return last ? `${outcome}: ${last.slice(0, 300)}` : outcome;
}

function text(name: string): string {
  return `${readFileSync(join(import.meta.dirname, name), "utf8")}\n`;
}
