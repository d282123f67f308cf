import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/temporal/free-port.ts";
import { check, type Findings } from "./check.ts";
import { startCli } from "./cli-process.ts";
import { differences } from "./compare-runs.ts";
import { exportHistories } from "./export-histories.ts";
import { startHost } from "./host-process.ts";
import { markedProcesses } from "./marked-processes.ts";
import { type Counts, chaosText } from "./report.ts";
import { runParameters, runUnderFire } from "./under-fire.ts";

/** What came of a chaos run. */
export interface ChaosReport {
  counts: Counts;
  findings: Findings;
  /** Where the first run's trajectories and weights are not those of a run without kills. */
  different: string[];
  isClean: boolean;
  text: string;
}

/** Longer than a worker takes to end after its parent. */
const endingTime = 20_000;

/**
 * Runs the chaos pipeline under `kills` kills, checks what it left in `work`, and compares it with a run without kills.
 * A step takes about two kills.
 */
export async function chaos(options: {
  work: string;
  mark: string;
  kills: number;
  seed: number;
  /** Of a run; by default as many as outlast the kills. */
  steps?: number;
  note: (text: string) => void;
}): Promise<ChaosReport> {
  const { work, mark, note } = options;
  const started = performance.now();
  const steps = options.steps ?? Math.max(3, Math.ceil(options.kills / 2));
  const port = await freePort(0);
  const { kills, runs } = await runUnderFire({ ...options, steps, port });
  for (let waited = 0; waited < endingTime && markedProcesses(mark).length > 0; waited += 500)
    await sleep(500);
  for (const { run } of runs) await exportHistories(join(work, "runs"), run, join(work, "histories", run));
  const findings = check(work, mark);
  const seconds = (performance.now() - started) / 1000;
  note("the same run without kills …");
  const [first] = runs;
  const calm = join(work, "calm");
  const reference = await calmRun(calm, mark, first?.seed ?? 0, steps, port);
  const different = differences(join(work, "runs", first?.run ?? ""), reference);
  const counts: Counts = {
    kills: kills.length,
    lostTrajectories: findings.lostTrajectories.length,
    lostTurns: findings.lostTurns.length,
    toolCallsTwice: findings.toolCallsTwice.length,
    trainedTwice: findings.trainedTwice.length,
    orphans: findings.orphans.length,
    generationSecondsLost: findings.generationSecondsLost,
    seconds,
  };
  const { lostTrajectories, lostTurns, toolCallsTwice, trainedTwice, orphans } = counts;
  const bad = lostTrajectories + lostTurns + toolCallsTwice + trainedTwice + orphans + different.length;
  return {
    ...{ counts, findings, different },
    isClean: bad === 0,
    text: chaosText({ kills, counts, findings, different, runs: runs.length }),
  };
}

/** The same run left alone; returns its folder. */
async function calmRun(
  work: string,
  mark: string,
  seed: number,
  steps: number,
  port: number,
): Promise<string> {
  const runs = join(work, "runs");
  mkdirSync(runs, { recursive: true });
  const host = await startHost(mark, port, join(work, "calls.jsonl"));
  try {
    const parameters = runParameters(work, runs, seed, steps, host.url, false);
    const code = await startCli(mark, join(work, "cli.log"), parameters).ended;
    if (code !== 0)
      throw new Error(`the run without kills ended with exit code ${code}: see ${join(work, "cli.log")}`);
  } finally {
    await host.stop();
  }
  return join(runs, readdirSync(runs)[0] ?? "");
}
