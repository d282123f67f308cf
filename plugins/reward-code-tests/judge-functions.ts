import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "everturn/plugin";
import type { Ran, Sandbox, SandboxSession } from "everturn/sandbox";
import type { FunctionTests } from "./task-tests.ts";
import type { JudgeLimits, Verdict } from "./verdict.ts";

/** The maximum number of calls that an answer must make. */
const mostCalls = 20_000;
/**
 * The maximum bytes of the calls that the tests make by themselves, and of what an answer adds: its return
 * values, and calls with them.
 */
const [mostAsked, mostAdded] = [32 * 2 ** 20, 24 * 2 ** 20];
/** The MiB of files: the calls and return values as JSON within JSON, and the calls once more. */
const disk = 192;
const values = readText("values.py");
const runAnswer = values + readText("answer.py");
const runTests = values + readText("tests.py");

/**
 * Runs tests against an answer's functions, with the tests in one sandbox and the answer in another. Only
 * JSON values pass between them, so the answer can't affect the tests. The tests first run to find their
 * calls. The answer makes these calls, and the tests run again with the return values, until no new call
 * appears, because a call may depend on an earlier result. The answer gets a new sandbox each time. If the
 * tests fail before they see any answer, the score is missing. Any later failure is the answer's fault.
 */
export async function judgeFunctions(
  sandbox: Sandbox,
  code: string,
  tests: FunctionTests,
  limits: JudgeLimits,
  signal: AbortSignal,
): Promise<Verdict | { missing: string }> {
  const { time, total, memory } = limits;
  const end = performance.now() + 1000 * total;
  const judge = await sandbox.open({ limits: { time, memory, disk }, signal });
  const { setup, text, functions, pairs } = tests;
  const ask = (calls: JsonValue[], answered: Answered) =>
    tried(judge, { setup, text, functions, pairs, calls, ...answered, most: mostCalls }, signal);
  const nothing: Answered = { results: [], isEnded: false, why: "" };
  try {
    const first = await ask([], nothing);
    if (typeof first === "string") return unusable(first);
    const asked = byteLength(first.calls);
    if (asked > mostAsked) return { missing: `the task's tests make calls of more than ${mostAsked} bytes` };
    /** What to return if the tests do not repeat their first calls; undefined if they do. */
    const otherCalls = async () => {
      const again = await ask([], nothing);
      if (typeof again === "string") return unusable(again);
      return isDeepStrictEqual(again.calls, first.calls)
        ? undefined
        : { missing: "the task's tests don't make the same calls again" };
    };
    let found = first;
    let calls: JsonValue[] = [];
    let answered = nothing;
    while (!found.isWhole) {
      const left = (end - performance.now()) / 1000;
      if (left <= 0)
        return (
          (await otherCalls()) ??
          failed(`the calls that follow from what the answer returned take more than ${total} s`)
        );
      const before = { calls, results: answered.results };
      calls = found.calls;
      const session = await sandbox.open({ limits: { time, memory }, signal });
      const program = `${tests.setup}\n${code}`;
      answered = await answersTo(session, calls, program, Math.min(time, left), signal);
      // Earlier return values are kept, so that an answer which returns something else each time also comes
      // to an end.
      const same = commonLength(before, calls);
      answered.results.splice(0, same, ...before.results.slice(0, same));
      if (byteLength(answered.results) > mostAdded)
        return failed(`the answer returned more than ${mostAdded} bytes`);
      const next = await ask(calls, answered);
      // If the tests fail on the answer's return values, that is the answer's fault.
      if (typeof next === "string") return failed(`with what the answer returned, the tests end by ${next}`);
      if (byteLength(next.calls) > asked + mostAdded)
        return failed(`what the answer returned is passed on in calls of more than ${mostAdded} bytes`);
      // Tests that make different calls each time have used up the time, so the answer is not to blame.
      const changed = answered.isEnded && performance.now() >= end ? await otherCalls() : undefined;
      if (changed !== undefined) return changed;
      found = next;
    }
    return { ...found, reasons: [...found.reasons, answered.why].filter((why) => why !== "") };
  } finally {
    await judge.close();
  }
}

function unusable(reason: string): { missing: string } {
  return { missing: `the task's tests can't be run: ${reason}` };
}

function failed(reason: string): Verdict {
  return { passed: 0, tests: 1, reasons: [reason] };
}

/** Counts the answered calls that are the same again, from the first on. */
function commonLength(before: { calls: JsonValue[]; results: string[] }, calls: JsonValue[]): number {
  const other = before.results.findIndex((_, index) => !isDeepStrictEqual(before.calls[index], calls[index]));
  return other === -1 ? before.results.length : other;
}

function byteLength(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

interface Found extends Verdict {
  calls: JsonValue[];
  /** Every call was answered, so this is the verdict. */
  isWhole: boolean;
}

/** Runs the tests with the known answers. Returns a reason if they do not finish. */
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
  /** The return value of each call, as an unparsed line of JSON. */
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
  time: number,
  signal: AbortSignal,
): Promise<Answered> {
  try {
    await session.write({ "request.json": JSON.stringify({ program, calls }), "results.jsonl": "" });
    const ran = await session.run({ language: "python", code: runAnswer }, { signal, limits: { time } });
    const written = ran.lost === "everything" ? undefined : await session.read("results.jsonl");
    const lines = new TextDecoder().decode(written).split("\n").slice(0, -1);
    const isEnded = lines.length < calls.length;
    return {
      results: lines.slice(0, calls.length),
      isEnded,
      why: isEnded ? `the answer: ${ending(ran)}` : "",
    };
  } finally {
    await session.close();
  }
}

function ending({ outcome, stderr }: Ran): string {
  const last = stderr.trim().split("\n").at(-1);
  return last ? `${outcome}: ${last.slice(0, 300)}` : outcome;
}

function readText(name: string): string {
  return `${readFileSync(join(import.meta.dirname, name), "utf8")}\n`;
}
