import { setTimeout as sleep } from "node:timers/promises";
import type { Strike } from "../chaos/recovery.ts";
import type { Striker } from "../chaos/striker.ts";
import type { Kind } from "../chaos/victims.ts";
import type { Course } from "./course.ts";
import { endure, type Outage } from "./outages.ts";
import type { World } from "./world.ts";

/** What is struck in a round; the Temporal server and the store have outages of their own. */
export const round: readonly Kind[] = [
  ...Array<Kind>(4).fill("orchestration"),
  ...Array<Kind>(5).fill("policy"),
  ...Array<Kind>(5).fill("tools"),
  ...Array<Kind>(4).fill("trainer"),
  ...Array<Kind>(2).fill("tool host"),
  ...Array<Kind>(2).fill("cli"),
];

/** Milliseconds from progress of the run, or for every second strike from the strike before, to a strike. */
const longestPause = 5000;

/** Milliseconds after which a strike comes even without progress. */
const patience = 10_000;

/** Milliseconds between two looks. */
const tick = 200;

/** Milliseconds until the tools' host is there again. */
const longestAbsence = 2000;

/** Strikes a run, with the outages that are due, until there are `total` strikes or the run has ended. */
export async function strikeCourse(
  { run, reached, ended }: Course,
  options: {
    world: World;
    striker: Striker;
    random: () => number;
    /** Those of all runs; they are added here. */
    strikes: Strike[];
    total: number;
    outages: readonly Outage[];
    note: (text: string) => void;
  },
): Promise<void> {
  const { world, striker, random, strikes, total, outages, note } = options;
  const underway: Promise<void>[] = [];

  async function progressAfter(before: number): Promise<void> {
    const deadline = Date.now() + patience;
    while (Date.now() < deadline && reached() <= before && !ended.aborted) await sleep(tick);
  }

  async function restartTools(): Promise<void> {
    await sleep(random() * longestAbsence);
    await world.tools.restart();
  }

  await progressAfter(0);
  while (strikes.length < total && !ended.aborted) {
    if (random() < 0.5) await progressAfter(reached());
    await sleep(random() * longestPause, undefined, { signal: ended }).catch(() => {}); // it ended
    if (ended.aborted) break;
    const one = striker.strike(run);
    if (one === undefined) continue;
    strikes.push(one);
    note(`${strikes.length}/${total}: ${one.action} ${one.kind} (${one.pids.length})`);
    if (one.kind === "tool host" && one.action === "kill") underway.push(restartTools());
    for (const outage of outages.filter(({ time, after }) => time === undefined && after < strikes.length)) {
      note(`${strikes.length}/${total}: ${outage.what}`);
      underway.push(endure(outage, run, world, random));
    }
  }
  await Promise.all(underway);
  if (ended.aborted) striker.release();
}
