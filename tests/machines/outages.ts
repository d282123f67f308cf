import { setTimeout as sleep } from "node:timers/promises";
import type { SeenFile } from "../chaos/progress-log.ts";
import type { World } from "./world.ts";

/** What a run has to outlast without its servers, or without one of its machines; times in milliseconds since 1970. */
export interface Outage {
  what: "partition" | "store restart" | "Temporal restart";
  /** The number of strikes after which it begins. */
  after: number;
  run?: string;
  time?: number;
  /** When everything could be reached again. */
  over?: number;
  /** When the run made progress after that, or ended well. */
  recovered?: number;
  /** The run ended with an error before that, and had to be started again. */
  gaveUp?: true;
}

/** For how many strikes there is one, and when the first one comes, as a share of these. */
const schedule: { what: Outage["what"]; per: number; first: number }[] = [
  { what: "partition", per: 60, first: 0.5 },
  { what: "store restart", per: 150, first: 0.3 },
  { what: "Temporal restart", per: 150, first: 0.7 },
];

/** Milliseconds for which a machine is cut off: longer than a heartbeat's time-out. */
const shortestPartition = 12_000;
const longestPartition = 25_000;

/** Milliseconds for which a server is down. */
const longestRestart = 8000;

/** The outages among so many strikes, in the order in which they come. */
export function outagesOf(strikes: number): Outage[] {
  const all = schedule.flatMap(({ what, per, first }) => {
    const count = Math.ceil(strikes / per);
    const numbers = Array.from({ length: count }, (_, index) => index);
    return numbers.map((index) => ({ what, after: Math.floor(((index + first) * strikes) / count) }));
  });
  return all.sort((a, b) => a.after - b.after);
}

/** Makes an outage of a run, and ends it. */
export async function endure(outage: Outage, run: string, world: World, random: () => number): Promise<void> {
  const { machines, s3, temporal } = world;
  outage.run = run;
  outage.time = Date.now();
  if (outage.what === "partition") {
    const machine = machines[Math.floor(random() * machines.length)];
    machine?.wire("down");
    await sleep(shortestPartition + random() * (longestPartition - shortestPartition));
    machine?.wire("up");
  } else {
    const server = outage.what === "store restart" ? s3 : temporal;
    await server.kill();
    await sleep(random() * longestRestart);
    await server.start();
  }
  outage.over = Date.now();
}

/** Notes in `outage` that the run got further since it was over. */
export function observeOutage(outage: Outage, files: readonly SeenFile[]): void {
  const { over, recovered } = outage;
  if (over === undefined || recovered !== undefined) return;
  const found = files.findLast(({ time }) => time > over);
  if (found !== undefined) outage.recovered = found.time;
}
