import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { calmRun } from "./calm-run.ts";
import { check, type Findings } from "./check.ts";
import { startCli } from "./cli-process.ts";
import { differences } from "./compare-runs.ts";
import { exportHistories } from "./export-histories.ts";
import { canFailDisks, faultsIn } from "./failing-disk.ts";
import { markedProcesses } from "./marked-processes.ts";
import { showObjects, startObjectPlace } from "./object-place.ts";
import { type Strike, unrecovered } from "./recovery.ts";
import { type Counts, chaosText } from "./report.ts";
import { type Scenario, shareOut } from "./scenarios.ts";
import { runUnderFire } from "./under-fire.ts";

/** What came of chaos runs. */
export interface ChaosReport {
  counts: Counts;
  findings: Findings;
  /** Where a first run's trajectories and weights are not those of a run left alone. */
  different: string[];
  isClean: boolean;
  text: string;
}

/** The backends of a run's store. */
export const stores = ["folder", "object"] as const;

/** What came of one scenario. */
interface ScenarioReport {
  strikes: Strike[];
  findings: Findings;
  different: string[];
  runs: number;
  /** Calls that its disk failed. */
  diskErrors: number;
  /** Trajectories that were left out although all that the disk failed could be read in the end. */
  excluded: number;
}

interface Options {
  work: string;
  mark: string;
  seed: number;
  /** Where the runs that are struck keep what lasts; those left alone have it in their folders. */
  store: (typeof stores)[number];
  /** host:port of the Temporal server of the runs that are struck. Default: each has its own. */
  temporal?: string;
  note: (text: string) => void;
}

/** Longer than a worker takes to end after its parent. */
const endingTime = 20_000;

/**
 * Runs the chaos pipeline in each scenario, with `strikes` kills and stops between them, checks what they left in
 * `work`, a folder each, and compares each with a run left alone.
 */
export async function chaos(
  options: Options & { strikes: number; scenarios: readonly Scenario[] },
): Promise<ChaosReport> {
  const started = performance.now();
  const reports: ScenarioReport[] = [];
  const possible = options.scenarios.filter(({ diskErrors }) => diskErrors === 0 || canFailDisks);
  if (possible.length < options.scenarios.length)
    options.note("no disk errors: they need Linux and a C compiler, `cc`");
  for (const [scenario, strikes] of shareOut(options.strikes, possible)) {
    if (strikes > 0 || scenario.diskErrors > 0)
      reports.push(await runScenario(scenario, { ...options, strikes }));
  }
  const strikes = reports.flatMap((report) => report.strikes);
  const different = reports.flatMap((report) => report.different);
  const findings = joined(reports.map((report) => report.findings));
  const sumOf = (of: (report: ScenarioReport) => number) =>
    reports.reduce((sum, report) => sum + of(report), 0);
  const counts: Counts = {
    kills: strikes.filter(({ action }) => action === "kill").length,
    stops: strikes.filter(({ action }) => action === "stop").length,
    unrecovered: unrecovered(strikes).length,
    lostTrajectories: findings.lostTrajectories.length,
    lostTurns: findings.lostTurns.length,
    toolCallsTwice: findings.toolCallsTwice.length,
    unrecordedCalls: findings.unrecordedCalls.length,
    trainedTwice: findings.trainedTwice.length,
    orphans: findings.orphans.length,
    different: different.length,
    excluded: sumOf(({ excluded }) => excluded),
    diskErrors: sumOf(({ diskErrors }) => diskErrors),
    generationSecondsLost: findings.generationSecondsLost,
    seconds: (performance.now() - started) / 1000,
  };
  const {
    kills: _,
    stops: __,
    diskErrors: ___,
    generationSecondsLost: ____,
    seconds: _____,
    ...bad
  } = counts;
  const runs = sumOf((report) => report.runs);
  return {
    counts,
    findings,
    different,
    isClean: Object.values(bad).every((count) => count === 0),
    text: chaosText({ strikes, counts, findings, different, runs }),
  };
}

async function runScenario(
  scenario: Scenario,
  options: Options & { strikes: number },
): Promise<ScenarioReport> {
  const { mark, note } = options;
  const work = join(options.work, scenario.name.replaceAll(" ", "-"));
  const steps = Math.max(2, Math.ceil(options.strikes / scenario.strikesPerStep));
  // Below the ports that systems give away, so that nobody else takes it while the host is killed; another process has another one.
  const port = await freePort(20_000 + (process.pid % 10_000));
  const root = join(work, "objects");
  const objects = options.store === "object" ? await startObjectPlace(root, options.seed) : undefined;
  const { strikes, runs } = await runUnderFire({ ...options, scenario, work, steps, port, objects });
  const faults = faultsIn(work);
  if (scenario.diskErrors > 0) note(`${scenario.name}: calls that failed: ${JSON.stringify(faults)}`);
  for (let waited = 0; waited < endingTime && markedProcesses(mark).length > 0; waited += 500)
    await sleep(500);
  for (const { run } of runs) await pruneRun(work, mark, run);
  for (const { run } of runs) await exportHistories(join(work, "runs"), run, join(work, "histories", run));
  objects?.stop();
  if (objects !== undefined) showObjects(root, join(work, "runs"));
  const findings = await check(work, mark);
  const report = {
    strikes,
    findings,
    different: [],
    runs: runs.length,
    diskErrors: Object.values(faults).reduce((sum, count) => sum + count, 0),
    excluded: scenario.diskErrors > 0 ? findings.seen.leftOut : 0,
  };
  if (!scenario.repeats) return report;
  note(`${scenario.name}: the same run left alone …`);
  const [first] = runs;
  const reference = await calmRun(scenario, options.work, mark, first?.seed ?? 0, steps);
  const different = await differences(join(work, "runs", first?.run ?? ""), reference);
  return { ...report, different: different.map((one) => `${scenario.name}: ${one}`) };
}

/** Does what retention has left to do: what a kill kept the run from. */
async function pruneRun(work: string, mark: string, run: string): Promise<void> {
  const log = join(work, "cli.log");
  const code = await startCli(mark, log, ["prune", run, "--runs", join(work, "runs")]).ended;
  if (code !== 0) throw new Error(`everturn prune ${run} ended with exit code ${code}: see ${log}`);
}

function joined(all: readonly Findings[]): Findings {
  const lists = (of: (findings: Findings) => string[]) => all.flatMap(of);
  const sum = (of: (findings: Findings) => number) => all.reduce((before, one) => before + of(one), 0);
  return {
    lostTrajectories: lists((one) => one.lostTrajectories),
    lostTurns: lists((one) => one.lostTurns),
    toolCallsTwice: lists((one) => one.toolCallsTwice),
    unrecordedCalls: lists((one) => one.unrecordedCalls),
    trainedTwice: lists((one) => one.trainedTwice),
    orphans: lists((one) => one.orphans),
    generationSecondsLost: sum((one) => one.generationSecondsLost),
    seen: {
      trajectories: sum(({ seen }) => seen.trajectories),
      leftOut: sum(({ seen }) => seen.leftOut),
      turns: sum(({ seen }) => seen.turns),
      calls: sum(({ seen }) => seen.calls),
      segments: sum(({ seen }) => seen.segments),
      workflows: sum(({ seen }) => seen.workflows),
    },
  };
}
