// CPU time of a turn by process, and requests and writes of Temporal's server, next to a bare workflow on the same
// server: as many workflows, started in the same way, each with as many local activities that do nothing. That is the
// limit for a program with a workflow per trajectory. Both sides alternate. Linux only (/proc).
// node benchmarks/turns.ts [--rounds 5] [--trajectories 64] [--turns 4] [--json]
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openDurableRun } from "./durability/durable-run.ts";
import { type CpuSeconds, cpuBetween, cpuSeconds } from "./durability/processes.ts";
import { median } from "./shapes.ts";
import { openBareWorkflows } from "./turns/bare-side.ts";
import { type ServerCounts, serverCounts } from "./turns/server-counts.ts";

/** The bar on CPU milliseconds of a turn, of all processes. */
const bar = 7;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    trajectories: { type: "string", default: "64" },
    turns: { type: "string", default: "4" },
    json: { type: "boolean", default: false },
  },
});
const trajectories = Number(values.trajectories);
const turns = Number(values.turns);

/** Milliseconds after which the server's metrics contain everything. */
const counting = 2000;

/** One measurement, each value per turn. */
interface Round {
  /** CPU milliseconds by process, and of all together. */
  cpu: CpuSeconds;
  total: number;
  turnsPerSecond: number;
  requests: number;
  writes: number;
}

async function measured(work: () => Promise<number>, counts: () => Promise<ServerCounts>): Promise<Round> {
  const count = trajectories * turns;
  const before = { cpu: cpuSeconds(), server: await counts() };
  const seconds = await work();
  const used = cpuBetween(before.cpu, cpuSeconds());
  await sleep(counting);
  const server = await counts();
  const cpu = Object.fromEntries(Object.entries(used).map(([name, value]) => [name, (1000 * value) / count]));
  return {
    cpu,
    total: Object.values(cpu).reduce((sum, value) => sum + value, 0),
    turnsPerSecond: count / seconds,
    requests: (server.requests - before.server.requests) / count,
    writes: (server.writes - before.server.writes) / count,
  };
}

function summary(rounds: readonly Round[]) {
  const totals = rounds.map(({ total }) => total);
  const cheapest = rounds.find(({ total }) => total === Math.min(...totals));
  return { min: Math.min(...totals), median: median(totals), cheapest };
}

function described(name: string, rounds: readonly Round[]): string {
  const { min, median: usual, cheapest } = summary(rounds);
  const parts = Object.entries(cheapest?.cpu ?? {}).map(([process, used]) => `${process} ${used.toFixed(2)}`);
  return (
    `${name}: ${min.toFixed(2)} ms of CPU a turn (median ${usual.toFixed(2)}; ${parts.join(", ")}), ` +
    `${cheapest?.turnsPerSecond.toFixed(0)} turns a second, ${cheapest?.requests.toFixed(2)} requests and ` +
    `${cheapest?.writes.toFixed(2)} writes of the server a turn`
  );
}

const [load = 0] = loadavg();
if (load > 0.5) console.warn(`the machine is not idle (load ${load.toFixed(1)}): CPU time will be higher`);
const folder = await mkdtemp(join(tmpdir(), "everturn-turns-"));
const durable = await openDurableRun(folder, { turns: [turns], seconds: 0, batchSize: trajectories });
try {
  const { address, client, folder: files } = durable.supervised;
  const counts = serverCounts(await readFile(files.log("temporal"), "utf8"));
  const bare = await openBareWorkflows({ address, client, trajectories, turns });
  const ours: Round[] = [];
  const theirs: Round[] = [];
  await durable.step();
  await bare.run();
  for (let round = 0; round < Number(values.rounds); round++) {
    ours.push(await measured(() => durable.step(), counts));
    theirs.push(await measured(() => bare.run(), counts));
  }
  await bare.close();
  console.log(described("Everturn", ours));
  console.log(described("bare workflows", theirs));
  const [own, limit] = [summary(ours), summary(theirs)];
  const ratio = { min: own.min / limit.min, median: own.median / limit.median };
  console.log(
    `${trajectories} trajectories of ${turns} turns at once: ${ratio.min.toFixed(2)} times the limit ` +
      `(medians ${ratio.median.toFixed(2)}); the bar is ${bar} ms`,
  );
  if (values.json) {
    console.log(
      JSON.stringify({ benchmark: "turns", load, trajectories, turns, bar, ratio, ours, bare: theirs }),
    );
  }
} finally {
  await durable.close();
  await rm(folder, { recursive: true, force: true });
}
