import { join } from "node:path";
import { calmRun } from "../chaos/calm-run.ts";
import { differences } from "../chaos/compare-runs.ts";
import { seededRandom } from "../chaos/random.ts";
import { observeRecovery, type Strike } from "../chaos/recovery.ts";
import { createStriker } from "../chaos/striker.ts";
import { ownerClient } from "../support/s3-server.ts";
import { runCourse, scenario } from "./course.ts";
import { observeOutage, outagesOf } from "./outages.ts";
import { type PrivateTexts, privateTexts, readableIn } from "./readable-payloads.ts";
import { type MachinesReport, reportOf } from "./report.ts";
import { round, strikeCourse } from "./strike-course.ts";
import { whatIsLeft } from "./what-is-left.ts";
import { startWorld } from "./world.ts";

/** How runs on machines are made. */
export interface MachinesOptions {
  work: string;
  mark: string;
  seed: number;
  /** Of each run. */
  steps: number;
  note: (text: string) => void;
}

/** Milliseconds until a killed process is replaced. */
const longestAbsence = 2000;

/**
 * Strikes runs on two machines, cuts machines off and restarts the servers until `strikes` are done, checks what they
 * left, and compares each run with the same pipeline as one command on one machine. Throws if a run fails.
 */
export async function runOnMachines(options: MachinesOptions & { strikes: number }): Promise<MachinesReport> {
  const { work, mark, seed, steps, note, strikes: total } = options;
  const started = performance.now();
  const random = seededRandom(seed);
  const world = await startWorld(work, mark);
  try {
    const client = ownerClient(world.s3.url);
    const striker = createStriker(mark, { name: "machines", round }, random);
    const strikes: Strike[] = [];
    const outages = outagesOf(total);
    const runs: { run: string; seed: number }[] = [];
    while (runs.length === 0 || strikes.length < total) {
      const run = runName(runs.length + 1);
      const ownSeed = seed + runs.length;
      const own = () =>
        [...strikes, ...outages].filter((one) => one.run === run && one.recovered === undefined);
      await runCourse({
        world,
        client,
        work,
        run,
        seed: ownSeed,
        steps,
        note,
        pause: () => random() * longestAbsence,
        disturb: (course) => strikeCourse(course, { world, striker, random, strikes, total, outages, note }),
        observe: ({ files }) => {
          for (const one of strikes.filter((strike) => strike.run === run)) observeRecovery(one, mark, files);
          for (const one of outages.filter((outage) => outage.run === run)) observeOutage(one, files);
        },
        gaveUp: () => {
          for (const one of own()) one.gaveUp = true;
        },
      });
      for (const one of own()) one.recovered = Date.now(); // the run has done all that they kept it from
      runs.push({ run, seed: ownSeed });
      note(`${run} ended after ${strikes.length} strikes`);
    }
    const findings = await whatIsLeft({ world, client, work, mark, runs: runs.map(({ run }) => run) });
    const different: string[] = [];
    const readable: string[] = [];
    for (const { run, seed: ownSeed } of runs) {
      note(`${run}: the same pipeline as one command …`);
      const reference = await calmRun(scenario, work, mark, ownSeed, steps);
      const root = join(work, "checked", "runs", run);
      different.push(...(await differences(root, reference)).map((one) => `${run}: ${one}`));
      const texts = await privateTexts(root);
      requireSight(texts, reference);
      readable.push(...readableIn(world.temporal.folder, Object.values(texts).flat()));
    }
    const seconds = (performance.now() - started) / 1000;
    return reportOf({ strikes, outages, findings, different, readable, runs: runs.length, seconds });
  } finally {
    await world.stop();
  }
}

/** The name of a run; none begins with another one's. */
export function runName(number: number): string {
  return `machines-${String(number).padStart(3, "0")}`;
}

/** Texts of every kind are found on the server of the run without keys: the search finds what is there. */
function requireSight(texts: PrivateTexts, reference: string): void {
  for (const [kind, some] of Object.entries(texts)) {
    if (readableIn(reference, some).length === 0)
      throw new Error(`none of ${some.length} ${kind} is found in ${reference}, which is not encrypted`);
  }
}
