import { appendFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CliProcess, startCli } from "./cli-process.ts";
import { startHost } from "./host-process.ts";
import { progressLog as openProgressLog, type progressLog } from "./progress-log.ts";
import { deck, seededRandom } from "./random.ts";
import { type Kill, observeRecovery } from "./recovery.ts";
import { kill, round, victims } from "./victims.ts";

/** A run of the chaos pipeline that is started, and how. */
export interface ChaosRun {
  run: string;
  seed: number;
}

const pipeline = join(import.meta.dirname, "pipeline.yaml");
const tick = 200;

/** Milliseconds from progress of the run, or for every second kill from the kill before, to a kill. */
const longestPause = 6000;

/** Parameters of a chaos run on the command line. */
export function runParameters(
  work: string,
  runs: string,
  seed: number,
  steps: number,
  hostUrl: string,
  pauses = true,
) {
  const settings = [
    `seed=${seed}`,
    `steps=${steps}`,
    `policy.config.log=${join(work, "generations.jsonl")}`,
    `policy.config.pause=${pauses ? 250 : 0}`,
    `tools.0.config.log=${join(work, "calls.jsonl")}`,
    `tools.0.config.pause=${pauses ? 80 : 0}`,
    `tools.1.config.url=${hostUrl}`,
    `tools.2.config.log=${join(work, "sessions.log")}`,
    `tools.2.config.calls=${join(work, "calls.jsonl")}`,
  ];
  return [
    "run",
    pipeline,
    "--runs",
    runs,
    "--workers",
    "separate",
    ...settings.flatMap((one) => ["--set", one]),
  ];
}

/**
 * Runs the chaos pipeline, of `steps` steps, and kills its processes at random moments until `kills` are done; then it
 * runs to its end. A run that ends before that is followed by another one. Throws if a run fails by itself.
 */
export async function runUnderFire(options: {
  work: string;
  mark: string;
  kills: number;
  seed: number;
  steps: number;
  port: number;
  note: (text: string) => void;
}): Promise<{ kills: Kill[]; runs: ChaosRun[] }> {
  const { work, mark, seed, steps, port, note } = options;
  const random = seededRandom(seed);
  const nextKind = deck(round, random);
  const root = join(work, "runs");
  const log = join(work, "cli.log");
  mkdirSync(root, { recursive: true });
  const host = await startHost(mark, port, join(work, "calls.jsonl"));
  const kills: Kill[] = [];
  const runs: ChaosRun[] = [];

  async function oneRun(runSeed: number): Promise<void> {
    const before = new Set(existsSync(root) ? readdirSync(root) : []);
    const nameOf = () => readdirSync(root).find((name) => !before.has(name));
    const parameters = () => {
      const run = nameOf();
      if (run !== undefined) return ["resume", run, "--runs", root];
      return runParameters(work, root, runSeed, steps, host.url);
    };
    let journal: ReturnType<typeof progressLog> | undefined;
    let cli: CliProcess = startCli(mark, log, parameters());
    const observing = new AbortController();
    const observe = async () => {
      while (!observing.signal.aborted) {
        const run = nameOf();
        if (run !== undefined) journal ??= openProgressLog(root, run, join(work, "seen.jsonl"));
        journal?.look();
        for (const one of kills) observeRecovery(one, mark, journal?.files ?? []);
        await sleep(tick);
      }
    };
    const observer = observe();

    /** Waits until the run has got further than `before`, for half a minute at most. */
    async function progressAfter(before: number, signal: AbortSignal): Promise<void> {
      const deadline = Date.now() + 30_000;
      while (Date.now() < deadline && (journal?.reached() ?? 0) <= before && !signal.aborted) {
        await wait(tick, signal);
      }
    }

    async function strike(): Promise<void> {
      const kind = nextKind();
      const delay = random();
      const chosen = victims(kind, mark);
      if (chosen.length === 0) return;
      journal?.snapshot();
      const time = Date.now();
      const hit = chosen.filter(kill);
      if (hit.length === 0) return;
      const one: Kill = { kind, time, pids: hit.map(({ pid }) => pid), run: nameOf() ?? "" };
      kills.push(one);
      note(`kill ${kills.length}/${options.kills}: ${kind}`);
      if (kind === "tool host") {
        await sleep(delay * 2000);
        await host.restart();
      }
      if (kind === "cli" || kind === "everything") {
        await cli.ended;
        await sleep(delay * 2000);
        cli = startCli(mark, log, parameters());
      }
    }

    let code: number | null | undefined;
    let resumes = 0;
    try {
      while (code === undefined) {
        const before = journal?.reached() ?? 0;
        const atOnce = random() < 0.5;
        const pause = kills.length < options.kills ? random() * longestPause : Number.POSITIVE_INFINITY;
        const waiting = new AbortController();
        const moment = async () => {
          if (!atOnce) await progressAfter(before, waiting.signal);
          await wait(pause, waiting.signal);
        };
        code = await Promise.race([cli.ended, moment().then(() => undefined)]);
        waiting.abort();
        if (code === undefined) await strike();
        else if (code !== 0 && kills.length > 0 && resumes++ < 3) {
          note(`the run gave up with exit code ${code}; resumed as its message says`);
          cli = startCli(mark, log, parameters());
          code = undefined;
        }
      }
    } finally {
      observing.abort();
      await observer;
    }
    const run = nameOf() ?? "";
    runs.push({ run, seed: runSeed });
    journal?.snapshot();
    if (code !== 0) throw new Error(`the run ${run} ended with exit code ${code}: see ${log}`);
  }

  try {
    for (let next = seed; runs.length === 0 || kills.length < options.kills; next++) {
      await oneRun(next);
      note(`run ${runs.length} ended after ${kills.length} kills`);
    }
  } finally {
    await host.stop();
  }
  for (const one of kills) appendFileSync(join(work, "kills.jsonl"), `${JSON.stringify(one)}\n`);
  return { kills, runs };
}

/** Waits so many milliseconds, for ever at infinity, or until `signal` aborts. */
async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  const longest = 2 ** 31 - 1;
  await sleep(Math.min(milliseconds, longest), undefined, { signal }).catch(() => {}); // it aborted
}
