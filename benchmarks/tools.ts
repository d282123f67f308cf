// What running a model's Python costs in the tool `code`'s sandboxes: `node benchmarks/tools.ts [--sandbox auto] [--seconds 3] [--json]`,
// and served by verl-tool's protocol, beside verl-tool's own server: `--verl-tool http://127.0.0.1:5000 [--rounds 3]`
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openSandbox, type Sandbox, type SandboxSession } from "everturn/sandbox";
import { besideVerlTool } from "./tools/beside-verl-tool.ts";

const { values } = parseArgs({
  options: {
    sandbox: { type: "string", default: "auto" },
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
    "at-once": { type: "string", default: "1,16,64" },
    "verl-tool": { type: "string" },
    json: { type: "boolean", default: false },
  },
});

/** How a program finds its interpreter. */
const ways = {
  kept: "in the trajectory's session, variables kept",
  fresh: "in the trajectory's session, a new interpreter each",
  alone: "in a sandbox of its own each",
};

interface Row {
  way: keyof typeof ways;
  atOnce: number;
  perSecond: number;
  /** Milliseconds of an execution. */
  p50: number;
  p99: number;
}

const { "verl-tool": peer, "at-once": concurrencies, seconds, rounds } = values;
if (peer !== undefined) {
  const sides = await besideVerlTool(
    peer,
    Number(seconds),
    Number(rounds),
    concurrencies.split(",").map(Number),
  );
  if (values.json) process.stdout.write(`${JSON.stringify(sides)}\n`);
  process.exit();
}

const program = { language: "python", code: "total = sum(range(100))\nprint(total)" } as const;
const sandbox = await openSandbox(values.sandbox, { modules: import.meta.url });
const coldStart = await firstAnswers(sandbox, (round) => ({ time: 100 + round })); // for which nothing is ready
const warmStart = await firstAnswers(sandbox, () => ({}));
const memory = await idleMemory(sandbox);
const rows: Row[] = [];
for (const way of ["kept", "fresh", "alone"] as const)
  for (const atOnce of [1, 16, 64]) rows.push(await measure(sandbox, way, atOnce));
await sandbox.close();

process.stdout.write(`${sandbox.kind}: ${sandbox.boundary}\n`);
process.stdout.write(
  `cold start ${coldStart.toFixed(0)} ms, where one is ready ${warmStart.toFixed(1)} ms; an idle session ${memory?.toFixed(1) ?? "?"} MB\n`,
);
for (const { way, atOnce, perSecond, p50, p99 } of rows)
  process.stdout.write(
    `${ways[way]}, ${atOnce} at once: ${perSecond.toFixed(0)} a second, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`,
  );
if (values.json)
  process.stdout.write(`${JSON.stringify({ sandbox: sandbox.kind, coldStart, warmStart, memory, rows })}\n`);

async function ran(session: SandboxSession, keep: boolean): Promise<void> {
  const { outcome, stdout } = await session.run({ ...program, keep });
  if (stdout !== "4950\n") throw new Error(`a program came to nothing: ${outcome}`);
}

async function measure(from: Sandbox, way: Row["way"], atOnce: number): Promise<Row> {
  const sessions =
    way === "alone" ? [] : await Promise.all(Array.from({ length: atOnce }, () => from.open()));
  await Promise.all(sessions.map((session) => ran(session, way === "kept")));
  const times: number[] = [];
  const began = performance.now();
  const until = began + 1000 * Number(values.seconds);
  await Promise.all(
    Array.from({ length: atOnce }, async (_, index) => {
      while (performance.now() < until) {
        const start = performance.now();
        const session = sessions[index] ?? (await from.open());
        await ran(session, way === "kept");
        if (way === "alone") await session.close();
        times.push(performance.now() - start);
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1000;
  await Promise.all(sessions.map((session) => session.close()));
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
  return { way, atOnce, perSecond: times.length / elapsed, p50: at(0.5), p99: at(0.99) };
}

/** The median of the time from the opening of a session to its first program's answer, in milliseconds; half a second lies between two. */
async function firstAnswers(from: Sandbox, limits: (round: number) => { time?: number }): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 9; round++) {
    await sleep(500);
    const start = performance.now();
    const session = await from.open({ limits: limits(round) });
    await ran(session, true);
    times.push(performance.now() - start);
    await session.close();
  }
  return times.sort((a, b) => a - b)[4] ?? Number.NaN;
}

/** MB that a session which has run a program and waits takes beyond what it shares with others; undefined where /proc does not tell. */
async function idleMemory(from: Sandbox): Promise<number | undefined> {
  const before = new Set(pids());
  const sessions = await Promise.all(Array.from({ length: 8 }, () => from.open()));
  await Promise.all(sessions.map((session) => ran(session, true)));
  const ours = pids().filter((pid) => !before.has(pid) && isOurs(pid));
  const sizes = ours.map(proportional);
  const together = ours.filter((pid) => parentOf(pid) === process.pid).length; // with those that wait for the next session
  await Promise.all(sessions.map((session) => session.close()));
  const whole = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  return whole === 0 ? undefined : whole / together / 1024;
}

function pids(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Whether a process descends from this one. */
function isOurs(pid: string): boolean {
  for (let at = Number(pid); at > 1; ) {
    if (at === process.pid) return true;
    at = parentOf(at);
  }
  return false;
}

function parentOf(pid: string | number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

function proportional(pid: string): number | undefined {
  const size = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1];
  return size === undefined ? undefined : Number(size);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // it has ended
  }
}
