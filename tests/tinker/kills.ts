import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readPointer } from "../../plugins/trainer-tinker/policy-files.ts";
import { readLines } from "../../src/base/files/line-file.ts";
import { killOnExit } from "../../src/base/processes/kill-on-exit.ts";
import type { StepRecord } from "../../src/contracts/generated/step-record.ts";
import { openRunFolder } from "../../src/run/folder/open-runs.ts";
import { runFolder } from "../../src/run/folder/run-folder.ts";
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
  /** Of the runs, those that began with the same adapter as an undisturbed one: all on a server whose models have seeds. */
  compared: number;
  /** Of the versions that the last one descends from, more than an undisturbed run makes; from the server's own database. */
  optimizerStepsTwice: number;
  optimizerStepsLost: number;
  /** Whether `everturn ledger` found every run whole. */
  ledger: boolean;
  /** The largest difference of the last adapters of two undisturbed runs, relative to each matrix's largest number. */
  repeatability: number;
  /** The same between the compared runs and an undisturbed one. */
  largestDifference: number;
  /** Only of runs that sample on the server. */
  sampled:
    | {
        /** Of the kills and stops, those while the server had a request for actions. */
        strikes: number;
        /** The largest difference of a token's recorded log-probability from the one in the version that its step trained from. */
        logprobGap: number;
      }
    | undefined;
}

/** What is struck in a round, by the part of the program. */
const rounds: Record<KillPart, readonly Kind[]> = {
  kills: [
    ...Array<Kind>(4).fill("trainer"),
    ...Array<Kind>(4).fill("training server"),
    "orchestration",
    "server",
    "cli",
    "everything",
  ],
  sampling: [
    ...Array<Kind>(4).fill("orchestration"), // the worker that samples
    ...Array<Kind>(4).fill("training server"),
    "server",
    "everything",
  ],
};

/** Milliseconds from a run's progress to a strike. */
const longestPause = 6000;

/** Milliseconds to wait for progress after a strike before the next one comes all the same. */
const patience = 60_000;

/** Milliseconds between two looks. */
const tick = 200;

/** How often an undisturbed run is made again if it began with another adapter. */
const mostRepetitions = 3;

/** How often a run that gave up is resumed. */
const mostResumes = 5;

const seed = 11;

/** Runs whose actions are written in kills.yaml, and runs of sampling.yaml, whose actions the server samples. */
export type KillPart = "kills" | "sampling";

interface Options {
  part: KillPart;
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
 * Makes runs on a training server, and strikes their processes and the server until there were `kills` kills and stops. Each run's last
 * weights, the server's steps and the ledger are held against a run left alone.
 */
export async function killRuns(options: Options): Promise<KillReport> {
  const { part, kind, work, model, port, mark, kills, note } = options;
  const isSampled = part === "sampling";
  const start = () =>
    kind.start({ folder: join(work, "server"), model, port, isSampled, mark: { [markName]: mark } });
  let server = await start();
  const madeIn = async (name: string, most: number, random: () => number) => {
    if (!kind.isSeeded) {
      await server.stop();
      server = await start();
    }
    return runUnderFire({ ...options, server, work: join(work, name), kills: most }, strikes, random);
  };
  const strikes: TinkerStrike[] = [];
  try {
    const first = await madeIn("calm-1", 0, Math.random);
    const expected = await adapterOf(server, first);
    const beginning = kind.isSeeded ? undefined : await firstAdapterOf(server, first);
    const isComparable = async (run: FinishedRun) =>
      beginning === undefined || largestDifference(await firstAdapterOf(server, run), beginning) === 0;
    let second = await madeIn("calm-2", 0, Math.random);
    for (let tries = 1; !(await isComparable(second)); tries++) {
      if (tries > mostRepetitions) throw new Error("undisturbed runs begin with different adapters");
      second = await madeIn(`calm-2-${tries}`, 0, Math.random);
    }
    const repeatability = largestDifference(await adapterOf(server, second), expected);
    note(`two undisturbed runs differ by ${repeatability.toExponential(1)}`);
    const random = seededRandom(seed);
    const runs: FinishedRun[] = [];
    while (strikes.length < kills) {
      runs.push(await madeIn(`run-${runs.length + 1}`, kills, random));
      note(`run ${runs.length} ended after ${strikes.length} of ${kills} strikes`);
    }
    const differences: number[] = [];
    const gaps: number[] = [];
    const counts = { twice: 0, lost: 0 };
    let ledger = true;
    for (const run of runs) {
      if (await isComparable(run))
        differences.push(largestDifference(await adapterOf(server, run), expected));
      const { twice, lost } = await miscounted(server, run);
      counts.twice += twice;
      counts.lost += lost;
      ledger &&= run.ledger;
      gaps.push(...(await readLines<StepRecord>(runFolder(run.runs, run.id).metrics)).map(gapOf));
    }
    return {
      kills: strikes.filter(({ action }) => action === "kill").length,
      stops: strikes.filter(({ action }) => action === "stop").length,
      unrecovered: unrecovered(strikes).length,
      runs: runs.length,
      compared: differences.length,
      optimizerStepsTwice: counts.twice,
      optimizerStepsLost: counts.lost,
      ledger,
      repeatability,
      largestDifference: Math.max(0, ...differences),
      sampled: isSampled
        ? {
            strikes: strikes.filter(({ isSampling }) => isSampling).length,
            logprobGap: Math.max(0, ...gaps),
          }
        : undefined,
    };
  } finally {
    await server.stop();
  }
}

interface TinkerStrike extends Strike {
  /** Whether the server had a request for actions. */
  isSampling: boolean;
}

function gapOf({ logprobGap = Number.NaN }: StepRecord): number {
  return logprobGap;
}

/** A run that has ended well. */
interface FinishedRun {
  runs: string;
  id: string;
  ledger: boolean;
}

function parametersOf({ part, kind, work, model, port }: Options): string[] {
  const plugins = part === "sampling" ? ["trainer", "policy"] : ["trainer"];
  const place = plugins.flatMap((plugin) => [
    `${plugin}.config.url=http://127.0.0.1:${port}`,
    `${plugin}.config.baseModel=${model}`,
  ]);
  const set = [...place, ...(part === "sampling" ? [`policy.config.model=${model}`] : []), ...kind.settings];
  const pipeline = join(import.meta.dirname, `${part}.yaml`);
  return ["run", pipeline, "--runs", join(work, "runs"), ...set.flatMap((one) => ["--set", one])];
}

/** Makes one run, and strikes until it has ended or there are as many strikes as wanted. */
async function runUnderFire(
  options: Options & { server: RunningServer },
  strikes: TinkerStrike[],
  random: () => number,
): Promise<FinishedRun> {
  const { part, kind, server, work, mark, kills, note } = options;
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
  const striker = createStriker(mark, { name: "tinker", round: rounds[part] }, random);
  const own: TinkerStrike[] = [];
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

  async function until(isThere: () => boolean): Promise<void> {
    for (const deadline = Date.now() + patience; !isThere(); await sleep(tick))
      if (Date.now() > deadline) break;
  }

  /** A moment after progress, or at once in a quarter of the cases. In `sampling`, the server has been asked for actions then. */
  async function moment(): Promise<void> {
    const before = reached();
    const isAtOnce = random() < 0.25;
    const pause = random() * longestPause;
    await until(() => isAtOnce || reached() > before);
    await sleep(pause);
    if (part === "sampling") await until(() => server.isSampling());
  }

  async function strike(run: string): Promise<void> {
    const isSampling = server.isSampling();
    const struck = striker.strike(run);
    if (struck === undefined) return;
    const one = Object.assign(struck, { isSampling });
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

/** The adapter of its first version. */
async function firstAdapterOf(server: RunningServer, run: FinishedRun): Promise<Matrices> {
  const [version] = await versionsOf(run);
  return server.adapterOf(version?.path ?? "", join(dirname(run.runs), "first-adapter"));
}
