// The independent checker of a chaos run: reads its folder and imports nothing of src/.
// Run it by hand: node tests/chaos/check.ts <folder>
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readHistories } from "./check-histories.ts";
import { leftLeases, readStore } from "./check-store.ts";
import type { KeptTrajectory } from "./journal.ts";
import { markedProcesses, startOf } from "./marked-processes.ts";
import type { SeenFile } from "./progress-log.ts";
import { hashOf, read } from "./read-files.ts";

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
  /** stop: it was given up, since its signal was aborted. */
  event: "start" | "finish" | "stop";
  /** Of the run: each of a folder has its own. */
  seed: number;
  /** stage/task/sample/turn. */
  key: string;
  time: number;
  pid: number;
}

/**
 * Checks the folder of a chaos run: `runs/` and the histories of each run under `histories/<run>/`, `calls.jsonl` (the
 * side effects of the tools), `generations.jsonl` (what the policy began and finished), `state/` (what the machine holds), `temporary/` and `sandboxes.log` (what its tools made), `seen.jsonl` (journal files as
 * they were seen at the strikes), `strikes.jsonl`. `mark` is what its processes carry.
 */
export async function check(folder: string, mark: string): Promise<Findings> {
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
  const kept = new Map<string, KeptTrajectory>();
  const bySeed = new Map<number, string>();
  for (const run of existsSync(runs) ? readdirSync(runs) : []) {
    const store = await readStore(join(runs, run));
    for (const [name, one] of store.kept) kept.set(`${run}/${name}`, one);
    bySeed.set(read(join(runs, run, "plan", "1.json")).value.seed, run);
    const histories = readHistories(join(folder, "histories", run), store);
    for (const part of [store, histories]) {
      findings.lostTrajectories.push(...part.lostTrajectories);
      findings.lostTurns.push(...part.lostTurns);
      findings.trainedTwice.push(...part.trainedTwice);
    }
    findings.seen.trajectories += store.records.size;
    findings.seen.leftOut += store.leftOut;
    findings.seen.turns += store.turns;
    findings.seen.calls += store.calls;
    findings.seen.segments += store.segments.size;
    findings.seen.workflows += histories.workflows;
  }
  findings.orphans.push(
    ...leftLeases(join(folder, "state")),
    ...leftSandboxes(folder),
    ...leftFolders(folder),
  );
  const seen = lines<SeenFile>(join(folder, "seen.jsonl"));
  findings.lostTurns.push(...changed(runs, seen, kept));
  const journal: Journal = { kept, seen: new Map(seen.map((one) => [one.path, one.time])) };
  const calls = lines<CallLine>(join(folder, "calls.jsonl"));
  findings.toolCallsTwice.push(...callsTwice(journal, calls));
  findings.unrecordedCalls.push(...unrecorded(journal, calls));
  const generations = lines<GenerationLine>(join(folder, "generations.jsonl"));
  findings.lostTurns.push(...generatedTwice(journal, bySeed, generations));
  findings.generationSecondsLost = secondsLost(generations, lines(join(folder, "strikes.jsonl")));
  return findings;
}

/** Sandboxes that were seen (`sandboxes.log`) and run on. */
function leftSandboxes(folder: string): string[] {
  const file = join(folder, "sandboxes.log");
  const seen = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return seen.flatMap((line) => {
    const [pid, start] = line.split(" ");
    return startOf(Number(pid)) === start ? [`sandbox ${pid}`] : [];
  });
}

/** Temporary folders of tools that nobody removed: copies of a database. */
function leftFolders(folder: string): string[] {
  const temporary = join(folder, "temporary");
  return (existsSync(temporary) ? readdirSync(temporary) : [])
    .filter((name) => name.startsWith("everturn-sql-"))
    .map((name) => `temporary ${name}`);
}

/** What runs hold, and when its records were seen to have been made. */
interface Journal {
  /** By run/stage/task/sample. */
  kept: Map<string, KeptTrajectory>;
  seen: Map<string, number>;
}

/** What was seen at a strike and is gone now, or says something else: the file, or what took its place. */
function changed(runs: string, seen: SeenFile[], kept: Map<string, KeptTrajectory>): string[] {
  return seen.flatMap(({ path, sha256, says }) => {
    const file = join(runs, path);
    if (existsSync(file))
      return hashOf(readFileSync(file)) === sha256 ? [] : [`${path} was another at a strike`];
    const now = saidNow(path, says, kept);
    if (now === undefined) return [`${path} was there at a strike and is gone`];
    return now === says ? [] : [`${path} was another at a strike than its step's file says`];
  });
}

/** What is kept of a record that was removed and said that, as `SeenFile.says` has it; undefined if nothing is. */
function saidNow(path: string, said: string, all: Map<string, KeptTrajectory>): string | undefined {
  const [run, , stage, task, sample, file = ""] = path.split("/");
  const kept = all.get(`${run}/${stage}/${task}/${sample}`);
  const [, turn = "", , call] = /^turn-(\d+)(-call-(\d+))?\.json$/.exec(file) ?? [];
  if (call !== undefined) return kept?.calls.get(`${turn}/${call}`)?.observation;
  if (turn !== "") return kept?.turns.get(Number(turn))?.head;
  const isBefore = file.startsWith("left-out-") && kept?.ending?.outcome !== "left-out"; // it was tried again since
  return isBefore ? said : kept?.ending && JSON.stringify(kept.ending);
}

/** Milliseconds that a file's time may lie before its making: the kernel reads it off a clock that ticks 100 times a second or more. */
const tick = 10;

/** Milliseconds from the making of a record to `time`; undefined if it was made later, or just then. */
function lateness(time: number, made: number): number | undefined {
  const late = time - made;
  return late > tick ? Math.round(late) : undefined;
}

/** Executions that began after the call's result stood in the journal. */
function callsTwice({ kept, seen }: Journal, calls: CallLine[]): string[] {
  return calls.flatMap(({ key, time, tool }) => {
    const { trajectory, rest, path } = placeOf(key);
    const recorded = kept.get(trajectory)?.calls.get(rest)?.recorded;
    if (recorded === undefined) return [];
    const made = Math.min(recorded, seen.get(path) ?? recorded);
    const late = lateness(time, made);
    return late === undefined ? [] : [`${tool} ${key} ran again ${late} ms after its result was recorded`];
  });
}

/** Calls that ran without a record of what came of them, in trajectories that were not left out. */
function unrecorded({ kept }: Journal, calls: CallLine[]): string[] {
  const keys = new Map(calls.map(({ key, tool }) => [key, tool]));
  return [...keys].flatMap(([key, tool]) => {
    const { trajectory, rest } = placeOf(key);
    const own = kept.get(trajectory);
    if (own?.calls.has(rest) || own?.ending?.outcome === "left-out") return [];
    return [`${tool} ${key} ran and left no record`];
  });
}

/** Of a key run/stage/task/sample/turn/call, or without the call: the trajectory, the rest, the single record's path. */
function placeOf(key: string): { trajectory: string; rest: string; path: string } {
  const [run, stage, task, sample, turn, call] = key.split("/");
  const name = call === undefined ? `turn-${turn}` : `turn-${turn}-call-${call}`;
  return {
    trajectory: `${run}/${stage}/${task}/${sample}`,
    rest: call === undefined ? `${turn}` : `${turn}/${call}`,
    path: `${run}/trajectories/${stage}/${task}/${sample}/${name}.json`,
  };
}

/**
 * Generations that began after the turn stood in the journal, and went on; keys are stage/task/sample/turn. One that is given
 * up is none: the last look for a record goes along with the first moments of a generation, as long as a store takes to answer.
 */
function generatedTwice(
  { kept, seen }: Journal,
  bySeed: Map<number, string>,
  generations: GenerationLine[],
): string[] {
  return generations.flatMap(({ event, seed, key, time, pid }, index) => {
    const run = bySeed.get(seed);
    if (run === undefined) return [`${key} was generated with the seed ${seed}, which no run has`];
    const { trajectory, rest, path } = placeOf(`${run}/${key}`);
    const recorded = kept.get(trajectory)?.turns.get(Number(rest))?.recorded;
    if (event !== "start" || recorded === undefined) return [];
    const late = lateness(time, Math.min(recorded, seen.get(path) ?? recorded));
    if (late === undefined) return [];
    const next = generations
      .slice(index + 1)
      .find((one) => one.key === key && one.seed === seed && one.pid === pid);
    return next?.event === "stop"
      ? []
      : [`${run}/${key} was generated again ${late} ms after it was recorded`];
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
    const turn = `${line.seed}/${line.key}`;
    const attempt = `${turn} ${line.pid}`;
    if (line.event === "start") {
      begun.set(attempt, line);
      continue;
    }
    const start = begun.get(attempt);
    begun.delete(attempt);
    if (line.event === "stop") continue;
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
  process.stdout.write(`${JSON.stringify(await check(folder, mark), null, 2)}\n`);
}
