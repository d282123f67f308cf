import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defined } from "../../src/base/records/defined.ts";
import { approveAll } from "./approver.ts";
import { changingLoop } from "./changing-loop.ts";
import { type CliProcess, startCli } from "./cli-process.ts";
import { failingDisk } from "./failing-disk.ts";
import { startHost } from "./host-process.ts";
import { markedProcesses, sandboxesOf, startOf } from "./marked-processes.ts";
import type { ObjectPlace } from "./object-place.ts";
import { progressLog as openProgressLog, type progressLog } from "./progress-log.ts";
import { seededRandom } from "./random.ts";
import { observeRecovery, type Strike } from "./recovery.ts";
import { type RunOptions, runParameters } from "./run-parameters.ts";
import type { Scenario } from "./scenarios.ts";
import { keepSecondWorkers } from "./second-workers.ts";
import { failOnStandstill } from "./standstill.ts";
import { createStriker } from "./striker.ts";
import { roundOf } from "./victims.ts";

/** A run of the chaos pipeline that was started, and how. */
export interface ChaosRun {
  run: string;
  seed: number;
}

/** Milliseconds between two looks at what the run has done. */
const tick = 200;

/** Milliseconds from progress of the run, or for every second strike from the strike before, to a strike. */
const longestPause = 6000;

/** How often a run that gave up is resumed, as its message says. */
const mostResumes = 3;

/**
 * Runs a scenario, with runs of `steps` steps, and strikes its processes at random moments until `strikes` are done;
 * then it runs to its end. A run that ends before that is followed by another one. Throws if a run fails by itself.
 */
export async function runUnderFire(options: {
  scenario: Scenario;
  work: string;
  mark: string;
  strikes: number;
  seed: number;
  steps: number;
  port: number;
  /** Where the runs' store is, if that is not their folders. */
  objects: ObjectPlace | undefined;
  /** host:port of the run's Temporal server. Default: its own. */
  temporal?: string;
  note: (text: string) => void;
}): Promise<{ strikes: Strike[]; runs: ChaosRun[] }> {
  const { scenario, work, mark, seed, steps, port, objects, temporal, note } = options;
  const random = seededRandom(seed);
  const striker = createStriker(mark, { name: scenario.name, round: roundOf(scenario) }, random);
  const root = join(work, "runs");
  const log = join(work, "cli.log");
  mkdirSync(root, { recursive: true });
  const host = await startHost(mark, port, join(work, "calls.jsonl"));
  const disk = scenario.diskErrors === 0 ? {} : failingDisk(work, root, scenario.diskErrors, seed);
  const server: Record<string, string> = temporal === undefined ? {} : { TEMPORAL_ADDRESS: temporal };
  const env = { ...objects?.env, ...disk, ...server };
  const loop = scenario.upgrades ? changingLoop(work) : undefined;
  const strikes: Strike[] = [];
  const runs: ChaosRun[] = [];
  const sandboxes = new Set<string>();

  async function oneRun(runSeed: number): Promise<void> {
    const earlier = new Set(existsSync(root) ? readdirSync(root) : []);
    // A folder with this file is a run, which can be resumed.
    const isRun = (name: string) => !earlier.has(name) && existsSync(join(root, name, "run.json"));
    const nameOf = () => readdirSync(root).find(isRun);
    const own = () => strikes.filter(({ run }) => run === nameOf());
    const started: RunOptions = defined({
      work,
      runs: root,
      seed: runSeed,
      steps,
      hostUrl: host.url,
      pauses: true,
      loop: loop?.folder,
    });
    const parameters = () => {
      const run = nameOf();
      if (run === undefined) return runParameters(scenario, started);
      loop?.change();
      return ["resume", run, "--runs", root, ...(scenario.upgrades ? ["--upgrade"] : [])];
    };
    let journal: ReturnType<typeof progressLog> | undefined;
    let cli: CliProcess = startCli(mark, log, parameters(), env);
    const observing = new AbortController();
    const ended = observing.signal;
    const look = () => {
      const run = nameOf();
      if (run !== undefined)
        journal ??= openProgressLog(objects?.root ?? root, run, join(work, "seen.jsonl"));
      journal?.look();
      if (scenario.pipeline === "sandboxes") noteSandboxes(mark, work, sandboxes);
      for (const one of own()) observeRecovery(one, mark, journal?.files ?? []);
    };
    const observe = async () => {
      while (!ended.aborted) {
        look();
        await sleep(tick);
      }
    };
    const beside = { mark, runs: root, run: nameOf, ended };
    const roles = scenario.separate
      ? ["orchestration", "policy", "tools", "trainer"]
      : ["orchestration", "trainer"];
    const reached = () => journal?.reached() ?? 0;
    // A strike that comes late, or a run that begins late, is no standstill: only a busy machine.
    const moved = () => reached() + strikes.length + (nameOf() === undefined ? 0 : 1);
    const stuck = failOnStandstill({ what: `The run of "${scenario.name}"`, reached: moved, log, ended });
    stuck.catch(() => {}); // told where the run is waited for
    const observers = [
      observe(),
      ...(scenario.twoWorkers ? [keepSecondWorkers({ ...beside, roles, log })] : []),
      ...(scenario.approves ? [approveAll(beside)] : []),
    ];

    /** Waits until the run has got further than `before`, for half a minute at most. */
    async function progressAfter(before: number, signal: AbortSignal): Promise<void> {
      const deadline = Date.now() + 30_000;
      while (Date.now() < deadline && reached() <= before && !signal.aborted) {
        await wait(tick, signal);
      }
    }

    async function strike(): Promise<void> {
      const run = nameOf();
      if (run === undefined) return;
      journal?.snapshot();
      const one = striker.strike(run);
      if (one === undefined) return;
      strikes.push(one);
      note(`${scenario.name} ${strikes.length}/${options.strikes}: ${one.action} ${one.kind}`);
      if (one.action === "stop") return;
      const delay = random();
      if (one.kind === "tool host") {
        await sleep(delay * 2000);
        await host.restart();
      }
      if (one.kind === "cli" || one.kind === "everything") {
        await cli.ended;
        await sleep(delay * 2000);
        cli = startCli(mark, log, parameters(), env);
      }
    }

    let code: number | null | undefined;
    let resumes = 0;
    let isOver = false;
    void cli.ended.then(() => {
      isOver = true;
    });
    try {
      // What is killed before there is a run is no run's loss; and how long that takes would change what the seed draws.
      while (nameOf() === undefined && !isOver) await Promise.race([sleep(tick), stuck]);
      while (code === undefined) {
        const before = reached();
        const atOnce = random() < 0.5;
        const pause = strikes.length < options.strikes ? random() * longestPause : Number.POSITIVE_INFINITY;
        const waiting = new AbortController();
        const moment = async () => {
          if (!atOnce) await progressAfter(before, waiting.signal);
          await wait(pause, waiting.signal);
        };
        code = await Promise.race([
          cli.ended,
          moment().then(() => undefined),
          stuck.then(() => undefined),
        ]).finally(() => waiting.abort());
        if (code === undefined) await strike();
        else if (code !== 0 && own().length > 0 && resumes++ < mostResumes) {
          note(`the run gave up with exit code ${code}; resumed as its message says: ${lastError(log)}`);
          for (const one of own()) if (one.recovered === undefined) one.gaveUp = true;
          cli = startCli(mark, log, parameters(), env);
          code = undefined;
        }
      }
    } finally {
      if (code === undefined) cli.child.kill("SIGKILL"); // its processes end with it
      striker.release();
      observing.abort();
      await Promise.all(observers);
    }
    look();
    // A run that ended well has done all that a strike kept it from.
    if (code === 0) for (const one of own()) one.recovered ??= Date.now();
    runs.push({ run: nameOf() ?? "", seed: runSeed });
    journal?.snapshot();
    if (code !== 0)
      throw new Error(`the run ${nameOf()} ended with exit code ${code}: ${lastError(log)} (see ${log})`);
  }

  try {
    for (let next = seed; runs.length === 0 || strikes.length < options.strikes; next++) {
      await oneRun(next);
      note(`${scenario.name}: run ${runs.length} ended after ${strikes.length} strikes`);
    }
  } finally {
    await host.stop();
  }
  for (const one of strikes) appendFileSync(join(work, "strikes.jsonl"), `${JSON.stringify(one)}\n`);
  return { strikes, runs };
}

/** Writes down the sandboxes that are there and that were not `known`: nothing about them says later whose they were. */
function noteSandboxes(mark: string, work: string, known: Set<string>): void {
  for (const { pid } of sandboxesOf(markedProcesses(mark))) {
    const line = `${pid} ${startOf(pid)}\n`;
    if (!known.has(line)) appendFileSync(join(work, "sandboxes.log"), line);
    known.add(line);
  }
}

/** The last error that the command line told. */
function lastError(log: string): string {
  const lines = readFileSync(log, "utf8").split("\n");
  return lines.findLast((line) => /^[A-Z_]+: /.test(line)) ?? "it told none";
}

/** Waits so many milliseconds, for ever at infinity, or until `signal` aborts. */
async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  const longest = 2 ** 31 - 1;
  await sleep(Math.min(milliseconds, longest), undefined, { signal }).catch(() => {}); // it aborted
}
