import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { S3Client } from "@aws-sdk/client-s3";
import { defined } from "../../src/base/records/defined.ts";
import { progressLog } from "../chaos/progress-log.ts";
import { runParameters } from "../chaos/run-parameters.ts";
import { type Scenario, scenarios } from "../chaos/scenarios.ts";
import { failOnStandstill } from "../chaos/standstill.ts";
import type { Machine } from "./machine.ts";
import { mirrorRun } from "./mirror.ts";
import { keepWorkers } from "./workers.ts";
import { store, type World } from "./world.ts";

/** A run under way on the machines. */
export interface Course {
  run: string;
  /** What it has written, as far as it was seen. */
  files: ReturnType<typeof progressLog>["files"];
  /** Counts what it has got done. */
  reached(): number;
  /** Aborts when it has ended. */
  ended: AbortSignal;
}

/** How the chaos pipeline runs. */
export const scenario: Scenario = scenarios[0]!;

/** Milliseconds between two looks at what the store holds. */
const tick = 1000;

/** How often a command that gave up is started again. */
const mostResumes = 3;

/** The exit code of a command that was killed. */
const killed = 128 + 9;

/** Paths of a run's store that show its progress. */
const isProgress = /^trajectories\/.*\.json$|^(steps|warm-start)\/(\d+\/)?[^/]+\.json$|^run\.json$/;

/**
 * Runs the chaos pipeline with its command on the first machine and workers on all of them, and what `disturb` does
 * meanwhile, to its end. A command that was killed is started again after `pause()` ms, and so is a worker. Throws if
 * the run fails, or stands still.
 */
export async function runCourse(options: {
  world: World;
  client: S3Client;
  work: string;
  run: string;
  seed: number;
  steps: number;
  /** Milliseconds of a generation; absent: those of chaos. */
  generation?: number;
  note: (text: string) => void;
  pause: () => number;
  disturb: (course: Course) => Promise<void>;
  /** Called at each look. */
  observe: (course: Course) => void;
  /** The command ended with an error. */
  gaveUp: () => void;
}): Promise<void> {
  const { world, client, work, run, seed, steps, note, pause } = options;
  const { machines, tools } = world;
  const [first] = machines;
  if (first === undefined) throw new Error("there is no machine");
  const mirror = join(work, "mirror");
  const checked = join(work, "checked");
  for (const folder of [join(mirror, run), checked]) mkdirSync(folder, { recursive: true });
  const journal = progressLog(mirror, run, join(checked, "seen.jsonl"));
  const over = new AbortController();
  const ended = over.signal;
  const reached = () => journal.reached();
  const course: Course = { run, files: journal.files, reached, ended };
  const settings = defined<Scenario["settings"]>({ "policy.config.pause": options.generation });
  const parameters = [
    ...runParameters({ ...scenario, settings }, { work, seed, steps, hostUrl: tools.url, pauses: true }),
    "--id",
    run,
    "--workers",
    "elsewhere",
  ];
  const log = join(first.disk, "cli.log");

  async function command({ start }: Machine): Promise<void> {
    for (let resumes = 0; ; ) {
      const code = await start(parameters, "cli.log").ended;
      if (code === 0) return;
      if (code !== killed) {
        note(`the command ended with exit code ${code}: ${lastLines(log)}`);
        options.gaveUp();
        if (++resumes > mostResumes) throw new Error(`the run ${run} failed: see ${log}`);
      }
      await sleep(pause());
    }
  }

  async function observe(): Promise<void> {
    while (!ended.aborted) {
      // The store may be down.
      await mirrorRun({
        client,
        store,
        run,
        folder: join(mirror, run),
        wanted: (path) => isProgress.test(path),
      }).catch(() => {});
      journal.look();
      options.observe(course);
      await sleep(tick);
    }
  }

  async function whenBegun(begin: () => Promise<void>): Promise<void> {
    while (!existsSync(join(mirror, run, "run.json")) && !ended.aborted) await sleep(tick);
    if (!ended.aborted) await begin();
  }

  const stuck = failOnStandstill({ what: `The run ${run}`, reached, log, ended });
  const others = [
    observe(),
    whenBegun(() => keepWorkers({ machines, run, ended, pause })),
    whenBegun(() => options.disturb(course)),
  ];
  const failing = Promise.all([stuck, ...others]).then(() => new Promise<never>(() => {}));
  try {
    await Promise.race([command(first), failing]);
  } finally {
    over.abort();
    await Promise.allSettled([stuck, ...others]);
    journal.snapshot();
  }
}

function lastLines(log: string): string {
  return readFileSync(log, "utf8").trimEnd().split("\n").slice(-3).join("\n");
}
