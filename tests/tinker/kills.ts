import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readPointer } from "../../plugins/trainer-tinker/policy-files.ts";
import { killOnExit } from "../../src/base/processes/kill-on-exit.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { inPart } from "../../src/run/store/tree-part.ts";
import { firstVersion } from "../../src/run/versions/first-version.ts";
import { policyPart } from "../../src/run/versions/version-parts.ts";
import { type CliProcess, startCli } from "../chaos/cli-process.ts";
import { markName } from "../chaos/marked-processes.ts";
import { progressLog } from "../chaos/progress-log.ts";
import { seededRandom } from "../chaos/random.ts";
import { observeRecovery, type Strike, unrecovered } from "../chaos/recovery.ts";
import { failOnStandstill } from "../chaos/standstill.ts";
import { createStriker } from "../chaos/striker.ts";
import type { Kind } from "../chaos/victims.ts";
import { largestDifference, type Matrices } from "./adapters.ts";
import type { RunningServer, ServerKind } from "./server-kind.ts";

/** What kills and stops of a run's processes and of its training server left behind. */
export interface KillReport {
  kills: number;
  stops: number;
  /** Kills and stops after which a run got no further by itself. */
  unrecovered: number;
  runs: number;
  /** Of the versions that the last one descends from, more than an undisturbed run makes; from the server's own database. */
  optimizerStepsTwice: number;
  optimizerStepsLost: number;
  /** Whether `everturn ledger` found every run whole. */
  ledger: boolean;
  /** The largest difference of the last adapters of two undisturbed runs, relative to each matrix's largest number. */
  repeatability: number;
  /** The same between the runs under fire and an undisturbed one. */
  largestDifference: number;
}

/** A round of strikes. */
const round: readonly Kind[] = [
  ...Array<Kind>(4).fill("trainer"),
  ...Array<Kind>(4).fill("training server"),
  "orchestration",
  "server",
  "cli",
  "everything",
];

/** Milliseconds from a run's progress to a strike. */
const longestPause = 6000;

/** Milliseconds to wait for progress after a strike before the next one comes all the same. */
const patience = 60_000;

/** Milliseconds between two looks. */
const tick = 200;

/** How often a run that gave up is resumed. */
const mostResumes = 5;

const seed = 11;

interface Options {
  kind: ServerKind;
  work: string;
  /** The served model. */
  model: string;
  port: number;
  mark: string;
  kills: number;
  note: (text: string) => void;
}

/**
 * Makes runs of kills.yaml on a training server, and strikes their processes and the server until there were `kills` kills and stops. Each
 * run's last weights, the server's steps and the ledger are held against a run left alone.
 */
export async function killRuns(options: Options): Promise<KillReport> {
  const { kind, work, model, port, mark, kills, note } = options;
  const start = () => kind.start({ folder: join(work, "server"), model, port, mark: { [markName]: mark } });
  let server = await start();
  const madeIn = async (name: string, most: number, random: () => number) => {
    if (!kind.isSeeded) {
      await server.stop();
      server = await start();
    }
    return runUnderFire({ ...options, server, work: join(work, name), kills: most }, strikes, random);
  };
  const strikes: Strike[] = [];
  try {
    const first = await madeIn("calm-1", 0, Math.random);
    const second = await madeIn("calm-2", 0, Math.random);
    const expected = await adapterOf(server, first);
    const repeatability = largestDifference(await adapterOf(server, second), expected);
    note(`two undisturbed runs differ by ${repeatability.toExponential(1)}`);
    const random = seededRandom(seed);
    const runs: FinishedRun[] = [];
    while (strikes.length < kills) {
      runs.push(await madeIn(`run-${runs.length + 1}`, kills, random));
      note(`run ${runs.length} ended after ${strikes.length} of ${kills} strikes`);
    }
    const differences: number[] = [];
    const counts = { twice: 0, lost: 0 };
    let ledger = true;
    for (const run of runs) {
      differences.push(largestDifference(await adapterOf(server, run), expected));
      const { twice, lost } = await miscounted(server, run);
      counts.twice += twice;
      counts.lost += lost;
      ledger &&= run.ledger;
    }
    return {
      kills: strikes.filter(({ action }) => action === "kill").length,
      stops: strikes.filter(({ action }) => action === "stop").length,
      unrecovered: unrecovered(strikes).length,
      runs: runs.length,
      optimizerStepsTwice: counts.twice,
      optimizerStepsLost: counts.lost,
      ledger,
      repeatability,
      largestDifference: Math.max(0, ...differences),
    };
  } finally {
    await server.stop();
  }
}

/** A run that has ended well. */
interface FinishedRun {
  runs: string;
  id: string;
  ledger: boolean;
}

function parametersOf({ kind, work, model, port }: Options): string[] {
  const url = `trainer.config.url=http://127.0.0.1:${port}`;
  const set = [url, `trainer.config.baseModel=${model}`, ...kind.settings];
  const pipeline = join(import.meta.dirname, "kills.yaml");
  return ["run", pipeline, "--runs", join(work, "runs"), ...set.flatMap((one) => ["--set", one])];
}

/** Makes one run, and strikes until it has ended or there are as many strikes as wanted. */
async function runUnderFire(
  options: Options & { server: RunningServer },
  strikes: Strike[],
  random: () => number,
): Promise<FinishedRun> {
  const { kind, server, work, mark, kills, note } = options;
  const saves = server.saves();
  const [runs, log] = [join(work, "runs"), join(work, "cli.log")];
  mkdirSync(runs, { recursive: true });
  const nameOf = () => readdirSync(runs).find((name) => existsSync(join(runs, name, "run.json")));
  const isVulnerable = () => {
    return strikes.length < kills && nameOf() !== undefined && (kind.isSeeded || server.saves() > saves);
  };
  const parameters = () => {
    const run = nameOf();
    return run === undefined ? parametersOf(options) : ["resume", run, "--runs", runs];
  };
  const striker = createStriker(mark, { name: "tinker", round }, random);
  const own: Strike[] = [];
  let journal: ReturnType<typeof progressLog> | undefined;
  const start = () => {
    const started = startCli(mark, log, parameters());
    killOnExit(started.child);
    return started;
  };
  let cli: CliProcess = start();
  const reached = () => journal?.reached() ?? 0;
  const over = new AbortController();
  const look = () => {
    const run = nameOf();
    if (run !== undefined) journal ??= progressLog(runs, run, join(work, "seen.jsonl"));
    journal?.look();
    for (const one of own) observeRecovery(one, mark, journal?.files ?? []);
  };
  const observing = (async () => {
    while (!over.signal.aborted) {
      look();
      await sleep(tick);
    }
  })();
  const moved = () => reached() + own.length;
  const stuck = failOnStandstill({ what: "The run", reached: moved, log, ended: over.signal });
  stuck.catch(() => {}); // thrown where the end is waited for

  /** A moment after progress, or at once in a quarter of the cases. */
  async function moment(): Promise<void> {
    const before = reached();
    const isAtOnce = random() < 0.25;
    const pause = random() * longestPause;
    for (const deadline = Date.now() + patience; !isAtOnce && reached() <= before; await sleep(tick))
      if (Date.now() > deadline) break;
    await sleep(pause);
  }

  async function strike(run: string): Promise<void> {
    const one = striker.strike(run);
    if (one === undefined) return;
    strikes.push(one);
    own.push(one);
    note(`${strikes.length}/${kills}: ${one.action} ${one.kind} (${one.pids.length})`);
    if (one.action === "stop" || (one.kind !== "cli" && one.kind !== "everything")) return;
    await cli.ended;
    await sleep(random() * 2000);
    cli = start();
  }

  let resumes = 0;
  try {
    for (let code: number | null | undefined; code !== 0; ) {
      const waits = isVulnerable() ? [moment()] : [sleep(tick)];
      code = await Promise.race([
        cli.ended,
        stuck.then(() => undefined),
        ...waits.map((one) => one.then(() => undefined)),
      ]);
      const run = nameOf();
      if (code === undefined && run !== undefined && isVulnerable()) await strike(run);
      if (code === undefined || code === 0) continue;
      if (own.length === 0 || resumes++ === mostResumes)
        throw new Error(`the run ended with exit code ${code}: see ${log}`);
      note(`the run gave up with exit code ${code}; resumed`);
      for (const one of own) if (one.recovered === undefined) one.gaveUp = true;
      cli = start();
    }
  } finally {
    cli.child.kill("SIGKILL"); // its processes end with it
    striker.release();
    over.abort();
    await observing;
  }
  for (const one of own) one.recovered ??= Date.now();
  const id = nameOf() ?? "";
  const ledger = (await startCli(mark, log, ["ledger", id, "--runs", runs]).ended) === 0;
  return { runs, id, ledger };
}

/** The checkpoints of a run's versions, in order, and how many updates each takes. */
async function versionsOf({ runs, id }: FinishedRun): Promise<{ path: string; updates: number }[]> {
  const { store, plan } = await openRunFolder(runs, id);
  const first = firstVersion(plan);
  const updates = plan.rollout.batchSize / Number(plan.trainer.config.minibatchSize);
  const versions = [];
  for (let version = 1; version <= first + plan.steps; version++) {
    const pointer = await inPart(store, policyPart(plan, version), readPointer);
    if (pointer?.path === undefined) throw new Error(`version ${version} of ${id} is not on the server`);
    versions.push({ path: pointer.path, updates: version <= first ? (plan.warmStart?.steps ?? 0) : updates });
  }
  return versions;
}

/** How many optimizer steps too many or too few the server executed on the way to a run's last version. */
async function miscounted(server: RunningServer, run: FinishedRun): Promise<{ twice: number; lost: number }> {
  const versions = await versionsOf(run);
  const chain = server.chainOf(versions.at(-1)?.path ?? "");
  const steps = new Map(chain.map((link) => [link.path, link.steps]));
  const known = new Set(versions.map(({ path }) => path));
  const strange = chain.filter(({ path }) => !known.has(path));
  const surplus = versions.map(({ path, updates }) => (steps.get(path) ?? 0) - updates);
  return {
    twice: [...surplus, ...strange.map((link) => link.steps)].reduce((sum, one) => sum + Math.max(0, one), 0),
    lost: surplus.reduce((sum, one) => sum + Math.max(0, -one), 0),
  };
}

/** The adapter of a run's last version, from the server. */
async function adapterOf(server: RunningServer, run: FinishedRun): Promise<Matrices> {
  const versions = await versionsOf(run);
  return server.adapterOf(versions.at(-1)?.path ?? "", join(dirname(run.runs), "adapter"));
}
