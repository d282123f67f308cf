import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { type CliProcess, startCli } from "./cli-process.ts";
import { startHost } from "./host-process.ts";
import { progressLog } from "./progress-log.ts";
import { hashOf } from "./read-files.ts";
import { runParameters } from "./run-parameters.ts";
import type { Scenario } from "./scenarios.ts";
import { failOnStandstill } from "./standstill.ts";

/** Settings of a scenario that no trajectory and no weight depends on: where records are kept, and who approves. */
const besides = ["retention.singleRecords", "tools.0.approval"];

/**
 * The name of the run left alone that a run of `scenario` is compared with. Scenarios share one, however they are laid
 * out, if they run the same pipeline with the same settings.
 */
export function calmName(scenario: Scenario, seed: number, steps: number): string {
  const { settings, pipeline } = scenario;
  return `${seed}-${steps}-${hashOf(JSON.stringify([pipeline, decisive(settings)])).slice(0, 8)}`;
}

function decisive(settings: Scenario["settings"]): Scenario["settings"] {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !besides.includes(key)));
}

/** Runs the pipeline undisturbed, unless that was done before; returns the run's folder. */
export async function calmRun(
  scenario: Scenario,
  place: string,
  mark: string,
  seed: number,
  steps: number,
): Promise<string> {
  const work = join(place, "calm", calmName(scenario, seed, steps));
  const runs = join(work, "runs");
  if (!existsSync(runs)) {
    mkdirSync(runs, { recursive: true });
    const host = await startHost(mark, await freePort(0), join(work, "calls.jsonl"));
    try {
      const started = { work, runs, seed, steps, hostUrl: host.url, pauses: false };
      const settings = decisive(scenario.settings);
      const parameters = runParameters({ ...scenario, settings }, started);
      const log = join(work, "cli.log");
      const code = await endOfCalmRun(startCli(mark, log, parameters), { work, runs, log });
      if (code !== 0) throw new Error(`the run left alone ended with exit code ${code}: see ${log}`);
    } finally {
      await host.stop();
    }
  }
  return join(runs, readdirSync(runs)[0] ?? "");
}

/** The exit code of an undisturbed run. Throws when it stands still. */
async function endOfCalmRun(
  cli: CliProcess,
  { work, runs, log }: { work: string; runs: string; log: string },
): Promise<number | null> {
  let journal: ReturnType<typeof progressLog> | undefined;
  const reached = () => {
    const [run] = readdirSync(runs);
    if (run !== undefined) journal ??= progressLog(runs, run, join(work, "seen.jsonl"));
    journal?.look();
    return journal?.reached() ?? 0;
  };
  const over = new AbortController();
  const ended = cli.ended.finally(() => over.abort());
  const watching = failOnStandstill({ what: "The run left alone", reached, log, ended: over.signal });
  try {
    await Promise.race([ended, watching]);
  } catch (error) {
    cli.child.kill("SIGKILL");
    throw error;
  }
  return ended;
}
