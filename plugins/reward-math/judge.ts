import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { openSandbox, type Sandbox, type SandboxSession } from "everturn/sandbox";
import { wheels } from "./wheels.ts";

/** A ground truth and an answer in the form for math-verify. */
export interface Pair {
  gold: string;
  answer: string;
}

/** `unreadable`: the ground truth contains no answer. `undecided`: it took too long or too much memory. */
export type Verdict = "equal" | "different" | "unreadable" | "undecided";

/**
 * The number of pairs after which an interpreter is replaced, because sympy caches what it has simplified.
 */
const most = 500;
const python = { packages: wheels, warm: readFileSync(new URL("./judge.py", import.meta.url), "utf8") };

interface Interpreter {
  session: SandboxSession;
  judged: number;
}

let opened: Promise<Sandbox> | undefined;
const idle: Interpreter[] = [];
const waiting: (() => void)[] = [];
let free = Math.max(1, Math.min(4, availableParallelism()));

/**
 * Returns math-verify's verdict on a pair within `seconds`. Its interpreters start on demand and are kept.
 * Throws failures of the machine, and the signal's reason.
 */
export async function judged(pair: Pair, seconds: number, signal: AbortSignal): Promise<Verdict> {
  signal.throwIfAborted();
  if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  else free--;
  try {
    return await judgedBy(await interpreter(), pair, seconds, signal);
  } finally {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  }
}

async function judgedBy(
  one: Interpreter,
  pair: Pair,
  seconds: number,
  signal: AbortSignal,
): Promise<Verdict> {
  const program = {
    language: "python",
    code: "judge(input())",
    stdin: `${JSON.stringify(pair)}\n`,
    keep: true,
  } as const;
  let isWhole = false;
  try {
    const { outcome, value } = await one.session.run(program, { signal, limits: { time: seconds } });
    isWhole = outcome === "finished";
    if (!isWhole) return "undecided";
    return value === "True" ? "equal" : value === "'unreadable'" ? "unreadable" : "different";
  } finally {
    // An interpreter that was interrupted is not used again.
    if (isWhole && ++one.judged < most) idle.push(one);
    else await one.session.close();
  }
}

async function interpreter(): Promise<Interpreter> {
  const ready = idle.pop();
  if (ready !== undefined) return ready;
  opened ??= openSandbox("wasm", { modules: import.meta.url, limits: { memory: 768 }, python });
  opened.catch(() => {
    opened = undefined; // the next pair tries again
  });
  return { session: await (await opened).open(), judged: 0 };
}
