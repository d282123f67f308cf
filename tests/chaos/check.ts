// The independent checker of a chaos run: reads its folder and imports nothing of src/.
// Run it by hand: node tests/chaos/check.ts <folder>
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readHistories } from "./check-histories.ts";
import { hashOf, leftLeases, readStore } from "./check-store.ts";
import { markedProcesses } from "./marked-processes.ts";

/** What went wrong, each as a sentence; all lists are empty where nothing was lost. */
export interface Findings {
  lostTrajectories: string[];
  lostTurns: string[];
  toolCallsTwice: string[];
  /** Calls that a tool executed and the journal knows nothing of. */
  unrecordedCalls: string[];
  trainedTwice: string[];
  orphans: string[];
  /** Trajectory-seconds of generation that were spent on turns that had to be generated again. */
  generationSecondsLost: number;
  /** What was looked at. */
  seen: {
    trajectories: number;
    leftOut: number;
    turns: number;
    calls: number;
    segments: number;
    workflows: number;
  };
}

interface CallLine {
  tool: string;
  /** run/stage/task/sample/turn/call. */
  key: string;
  time: number;
}

interface GenerationLine {
  event: "start" | "finish";
  run: string;
  /** stage/task/sample/turn. */
  key: string;
  time: number;
  pid: number;
}

/**
 * Checks the folder of a chaos run: `runs/` and the histories of each run under `histories/<run>/`, `calls.jsonl` (the
 * side effects of the tools), `generations.jsonl` (what the policy began and finished), `state/` (what the machine holds), `seen.jsonl` (journal files as
 * they were seen at the strikes), `strikes.jsonl`. `mark` is what its processes carry.
 */
export function check(folder: string, mark: string): Findings {
  const runs = join(folder, "runs");
  const findings: Findings = {
    lostTrajectories: [],
    lostTurns: [],
    toolCallsTwice: [],
    unrecordedCalls: [],
    trainedTwice: [],
    orphans: markedProcesses(mark).map(({ pid, command }) => `process ${pid}: ${command}`),
    generationSecondsLost: 0,
    seen: { trajectories: 0, leftOut: 0, turns: 0, calls: 0, segments: 0, workflows: 0 },
  };
  for (const run of existsSync(runs) ? readdirSync(runs) : []) {
    const store = readStore(join(runs, run));
    const histories = readHistories(join(folder, "histories", run), store);
    for (const part of [store, histories]) {
      findings.lostTrajectories.push(...part.lostTrajectories);
      findings.lostTurns.push(...part.lostTurns);
      findings.trainedTwice.push(...part.trainedTwice);
    }
    findings.seen.trajectories += store.trajectories;
    findings.seen.leftOut += store.leftOut;
    findings.seen.turns += store.turns;
    findings.seen.calls += store.calls;
    findings.seen.segments += store.segments.size;
    findings.seen.workflows += histories.workflows;
  }
  findings.orphans.push(...leftLeases(join(folder, "state")));
  findings.lostTurns.push(...changedFiles(folder));
  const calls = lines<CallLine>(join(folder, "calls.jsonl"));
  findings.toolCallsTwice.push(...callsTwice(folder, calls));
  findings.unrecordedCalls.push(...unrecorded(folder, calls));
  const generations = lines<GenerationLine>(join(folder, "generations.jsonl"));
  findings.lostTurns.push(...generatedTwice(folder, generations));
  findings.generationSecondsLost = secondsLost(generations, lines(join(folder, "strikes.jsonl")));
  return findings;
}

/** Journal files that were seen at a strike and are gone now, or say something else. */
function changedFiles(folder: string): string[] {
  const seen = lines<{ path: string; sha256: string }>(join(folder, "seen.jsonl"));
  return seen.flatMap(({ path, sha256 }) => {
    const file = join(folder, "runs", path);
    if (!existsSync(file)) return [`${path} was there at a strike and is gone`];
    return hashOf(readFileSync(file)) === sha256 ? [] : [`${path} was another at a strike`];
  });
}

/** Milliseconds that a file's time may lie before its making: the kernel reads it off a clock that ticks 100 times a second or more. */
const tick = 10;

/** Milliseconds from the making of a file to `time`; undefined if it was made later, or just then. */
function lateness(time: number, file: string): number | undefined {
  const late = time - statSync(file).ctimeMs;
  return late > tick ? Math.round(late) : undefined;
}

/** Executions that began after the call's result stood in the journal. */
function callsTwice(folder: string, calls: CallLine[]): string[] {
  return calls.flatMap(({ key, time, tool }) => {
    const file = recordOf(folder, key);
    if (!existsSync(file)) return [];
    const late = lateness(time, file);
    return late === undefined ? [] : [`${tool} ${key} ran again ${late} ms after its result was recorded`];
  });
}

/** Calls that ran without a record of what came of them, in trajectories that were not left out. */
function unrecorded(folder: string, calls: CallLine[]): string[] {
  const keys = new Map(calls.map(({ key, tool }) => [key, tool]));
  return [...keys].flatMap(([key, tool]) => {
    const file = recordOf(folder, key);
    if (existsSync(file) || isLeftOut(dirname(file))) return [];
    return [`${tool} ${key} ran and left no record`];
  });
}

/** The journal's file of a call; keys are run/stage/task/sample/turn/call. */
function recordOf(folder: string, key: string): string {
  const [run = "", stage = "", task = "", sample = "", turn = "", call = ""] = key.split("/");
  const name = `turn-${turn}-call-${call}.json`;
  return join(folder, "runs", run, "trajectories", stage, task, sample, name);
}

function isLeftOut(trajectory: string): boolean {
  const has = (name: string) => existsSync(join(trajectory, `${name}.json`));
  return has("left-out-1") && !has("trajectory");
}

/** Generations that began after the turn stood in the journal; keys are stage/task/sample/turn. */
function generatedTwice(folder: string, generations: GenerationLine[]): string[] {
  return generations.flatMap(({ event, run, key, time }) => {
    const [stage = "", task = "", sample = "", turn = ""] = key.split("/");
    const file = join(folder, "runs", run, "trajectories", stage, task, sample, `turn-${turn}.json`);
    if (event !== "start" || !existsSync(file)) return [];
    const late = lateness(time, file);
    return late === undefined ? [] : [`${run}/${key} was generated again ${late} ms after it was recorded`];
  });
}

/** Seconds of generations that were killed under way, and of those that were finished a second time. */
function secondsLost(
  generations: GenerationLine[],
  strikes: { action: string; time: number; pids: number[] }[],
): number {
  const begun = new Map<string, GenerationLine>();
  const finished = new Set<string>();
  let lost = 0;
  for (const line of generations) {
    const turn = `${line.run}/${line.key}`;
    const attempt = `${turn} ${line.pid}`;
    if (line.event === "start") {
      begun.set(attempt, line);
      continue;
    }
    const start = begun.get(attempt);
    begun.delete(attempt);
    if (start !== undefined && finished.has(turn)) lost += line.time - start.time;
    finished.add(turn);
  }
  for (const { pid, time } of begun.values()) {
    const killed = strikes.find(
      (strike) => strike.action === "kill" && strike.time >= time && strike.pids.includes(pid),
    );
    if (killed !== undefined) lost += killed.time - time;
  }
  return lost / 1000;
}

function lines<Line>(file: string): Line[] {
  if (!existsSync(file)) return [];
  const whole = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return whole.map((line) => JSON.parse(line));
}

if (import.meta.main) {
  const [folder = ".", mark = "none"] = process.argv.slice(2);
  process.stdout.write(`${JSON.stringify(check(folder, mark), null, 2)}\n`);
}
