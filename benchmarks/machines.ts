// How runs scale with workers, and what a trajectory costs. First trajectories a second with 1, 2 and 4 workers of each
// role, where each policy worker generates one turn at a time and each generation takes `seconds`; then with more turns
// at once, until the machine or the server saturates. Then requests and bytes of an S3 store, actions, events and bytes
// of Temporal's histories per trajectory, and a sizing table from them. Linux x64 only (SeaweedFS from PyPI).
// node benchmarks/machines.ts [--rounds 2] [--workers 1,2,4] [--slots 2,4,8] [--per-slot 16] [--seconds 0.1] [--turns 4]
//   [--steps 4] [--trajectories 32] [--json]
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { Client } from "@temporalio/client";
import { startDevServer } from "../src/control/temporal/dev-server.ts";
import { findServerBinary } from "../src/control/temporal/server-binary.ts";
import { ownerClient, seaweedHere, startS3Server } from "../tests/support/s3-server.ts";
import { cpuBetween, cpuSeconds } from "./durability/processes.ts";
import { countedStore, type StoreCounts } from "./machines/counted-store.ts";
import { openScaledRun, type ScaledRun } from "./machines/scaled-run.ts";
import { asMarkdown, sizingTable, type TrajectoryCosts } from "./machines/sizing-table.ts";
import { median } from "./shapes.ts";
import { serverCounts } from "./turns/server-counts.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "2" },
    workers: { type: "string", default: "1,2,4" },
    slots: { type: "string", default: "2,4,8" },
    "per-slot": { type: "string", default: "16" },
    seconds: { type: "string", default: "0.1" },
    turns: { type: "string", default: "4" },
    steps: { type: "string", default: "4" },
    trajectories: { type: "string", default: "32" },
    json: { type: "boolean", default: false },
  },
});
const numbers = (text: string) => text.split(",").filter(Boolean).map(Number);
const rounds = Number(values.rounds);
const workerCounts = numbers(values.workers);
const slotCounts = numbers(values.slots);
const perSlot = Number(values["per-slot"]);
const seconds = Number(values.seconds);
const turns = Number(values.turns);
const steps = Number(values.steps);
const trajectories = Number(values.trajectories);

/** The bar on the share of linear scaling. */
const bar = 0.9;

/** The generation for which the table counts turns at once, in seconds. */
const usualGeneration = 5;

/** Milliseconds after which the server's metrics and its list of workflows contain everything. */
const counting = 3000;

/** One measurement: trajectories a second, and CPU seconds per trajectory by process. */
interface Rate {
  workers: number;
  slots: number;
  rate: number;
  cpu: Record<string, number>;
}

/** Trajectories a second with `workers` of each role. */
async function rateOf(run: ScaledRun, workers: number, slots: number): Promise<Rate> {
  const working = await run.work(workers, slots);
  try {
    await run.step(Math.min(workers * slots * 2, largest)); // everything is open then
    const count = workers * slots * perSlot;
    const before = cpuSeconds();
    const rate = count / (await run.step(count));
    const used = cpuBetween(before, cpuSeconds());
    const cpu = Object.fromEntries(Object.entries(used).map(([name, value]) => [name, value / count]));
    return { workers, slots, rate, cpu };
  } finally {
    await working.stop();
  }
}

const mostWorkers = Math.max(...workerCounts);
const configurations = [
  ...workerCounts.map((workers) => [workers, 1] as const),
  ...slotCounts.map((slots) => [mostWorkers, slots] as const),
];
const largest = Math.max(
  ...configurations.map(([workers, slots]) => workers * slots * perSlot),
  trajectories,
);

/** Measures all numbers of workers, in turns. */
async function rates(run: ScaledRun): Promise<Rate[]> {
  const all: Rate[] = [];
  for (let round = 0; round < rounds; round++)
    for (const [workers, slots] of configurations) all.push(await rateOf(run, workers, slots));
  return all;
}

/** Of each configuration: the best and the median rate, and its share of what linear growth from the first one would give. */
function ofRates(all: readonly Rate[]) {
  const found = configurations.map(([workers, slots]) => {
    const own = all.filter((one) => one.workers === workers && one.slots === slots);
    const best = own.reduce((one, other) => (other.rate > one.rate ? other : one));
    const cpuMs = 1000 * Object.values(best.cpu).reduce((sum, value) => sum + value, 0);
    return { workers, slots, max: best.rate, median: median(own.map(({ rate }) => rate)), cpuMs };
  });
  const first = found[0];
  const unit = first === undefined ? 0 : first.max / (first.workers * first.slots);
  return found.map((one) => ({ ...one, linear: one.max / (one.workers * one.slots * unit) }));
}

/** What a trajectory costs in steps of `trajectories`, once old steps are folded into files. */
async function costs(
  run: ScaledRun,
  store: () => StoreCounts,
  kept: () => Promise<number>,
): Promise<TrajectoryCosts> {
  const { client, folder } = run.supervised;
  const server = serverCounts(readFileSync(serverLog, "utf8"));
  const working = await run.work(1, 16);
  try {
    for (let step = 0; step < steps; step++) await run.step(trajectories);
    await sleep(counting);
    const from = new Date();
    const before = {
      store: store(),
      kept: await kept(),
      actions: (await server()).actions,
      cpu: cpuSeconds(),
    };
    for (let step = 0; step < steps; step++) await run.step(trajectories);
    const cpu = cpuBetween(before.cpu, cpuSeconds());
    await sleep(counting);
    const count = steps * trajectories;
    const after = store();
    const each = (key: keyof StoreCounts) => (after[key] - before.store[key]) / count;
    const histories = await historiesSince(client, folder.root.split("/").at(-1) ?? "", from);
    return {
      writes: each("writes"),
      reads: each("reads"),
      deletes: each("deletes"),
      misses: each("misses"),
      written: each("written"),
      read: each("read"),
      kept: ((await kept()) - before.kept) / count,
      actions: ((await server()).actions - before.actions) / count,
      events: histories.events / count,
      historyBytes: histories.bytes / count,
      cpuSeconds:
        Object.entries(cpu).reduce((sum, [name, used]) => sum + (counted.has(name) ? used : 0), 0) / count,
    };
  } finally {
    await working.stop();
  }
}

/** The processes whose CPU time belongs to a trajectory; not the store's server and the proxy. */
const counted = new Set(["server", "rollout", "policy", "tools", "trainer"]);

/** Events and bytes of the histories of a run's workflows that began after `from`. */
async function historiesSince(client: Client, run: string, from: Date) {
  const query = `EverturnRun = "${run}" AND StartTime > "${from.toISOString()}"`;
  const sum = { events: 0, bytes: 0 };
  for await (const { historyLength, historySize = 0 } of client.workflow.list({ query })) {
    sum.events += historyLength;
    sum.bytes += historySize;
  }
  return sum;
}

/** The bytes of all objects in the bucket. */
async function bytesKept(url: string): Promise<number> {
  const client = ownerClient(url);
  let bytes = 0;
  for (let ContinuationToken: string | undefined; ; ) {
    const page = await client.send(new ListObjectsV2Command({ Bucket: "runs", ContinuationToken }));
    for (const { Size = 0 } of page.Contents ?? []) bytes += Size;
    ContinuationToken = page.NextContinuationToken;
    if (ContinuationToken === undefined) return bytes;
  }
}

const [load = 0] = loadavg();
if (load > 0.5) console.warn(`the machine is not idle (load ${load.toFixed(1)}): the numbers will not hold`);
const folder = await mkdtemp(join(tmpdir(), "everturn-machines-"));
const serverLog = join(folder, "temporal.log");
const weed = await seaweedHere();
if (weed === undefined) throw new Error("there is no S3 server for this machine");
const temporal = await startDevServer({
  binary: await findServerBinary(),
  database: join(folder, "temporal.db"),
  log: serverLog,
});
try {
  const common = { folder, address: temporal.address, seconds, turns, log: join(folder, "workers.log") };
  const run = await openScaledRun({
    ...common,
    place: { runs: join(folder, "runs") },
    run: "scaled",
    most: largest,
  });
  const measured = await rates(run);
  await run.supervised.close();
  const lines = ofRates(measured);
  for (const { workers, slots, max, median: usual, linear, cpuMs } of lines)
    console.log(
      `${workers} workers of each role, ${workers * slots} turns at once: ${max.toFixed(2)} trajectories a second ` +
        `(median ${usual.toFixed(2)}), ${(100 * linear).toFixed(0)} % of linear, ${cpuMs.toFixed(0)} ms of CPU each`,
    );

  const s3 = await startS3Server(weed, join(folder, "s3"));
  const proxy = await countedStore(s3.port);
  Object.assign(process.env, s3.env, {
    AWS_ENDPOINT_URL_S3: proxy.url,
    XDG_STATE_HOME: join(folder, "state"),
  });
  const stored = await openScaledRun({
    ...common,
    place: { store: "s3://runs/bench" },
    run: "stored",
    most: trajectories,
  });
  const each = await costs(stored, proxy.counts, () => bytesKept(s3.url));
  await stored.supervised.close();
  proxy.stop();
  await s3.kill();
  for (const [name, value] of Object.entries(each))
    console.log(`per trajectory: ${name} ${Number(value.toPrecision(3))}`);
  const table = sizingTable(each, { turns, seconds: usualGeneration });
  console.log(asMarkdown(table));
  const linear = lines.filter(({ slots }) => slots === 1).map((line) => line.linear);
  const least = Math.min(...linear);
  console.log(`at least ${(100 * least).toFixed(0)} % of linear; the bar is ${100 * bar} %`);
  if (values.json)
    console.log(
      JSON.stringify({
        benchmark: "machines",
        load,
        turns,
        seconds,
        lines,
        measured,
        costs: each,
        table,
        least,
        bar,
      }),
    );
} finally {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
}
