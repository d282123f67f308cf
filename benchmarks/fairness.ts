// A small run next to a sweep of runs on the same pool of workers: its time alone, with fairness, with fairness and
// priority, and without fairness. The pool's policy workers generate `at-once` turns at a time, and each takes `seconds`.
// node benchmarks/fairness.ts [--sweep 8] [--in-flight 16] [--at-once 4] [--seconds 0.5] [--rounds 1] [--json]
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { placeRun } from "../src/control/operations/place-run.ts";
import { type SupervisedRun, superviseRun } from "../src/control/supervision/supervised-run.ts";
import { finishTraining, startTraining } from "../src/control/supervision/training-handle.ts";
import { poolQueue } from "../src/run/folder/queues.ts";
import { conversation, scriptedPlan } from "./durability/scripted-plan.ts";
import { type SharedServer, startSharedServer } from "./machines/shared-server.ts";
import { startWorkers } from "./machines/workers.ts";
import { median } from "./shapes.ts";

const { values } = parseArgs({
  options: {
    sweep: { type: "string", default: "8" },
    "in-flight": { type: "string", default: "16" },
    "at-once": { type: "string", default: "4" },
    seconds: { type: "string", default: "0.5" },
    rounds: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const sweep = Number(values.sweep);
const inFlight = Number(values["in-flight"]);
const atOnce = Number(values["at-once"]);
const seconds = Number(values.seconds);

/** The bound on the small run's time next to the sweep, as a multiple of its time alone. */
const bound = 4;

/** Policy workers of the pool. */
const policyWorkers = 2;

/** The turns of each trajectory. */
const turns = 4;

const pool = "shared";
const folder = await mkdtemp(join(tmpdir(), "everturn-fairness-"));

/** Creates a run in the pool and starts its own workers. */
async function joined(server: SharedServer, run: string, batchSize: number, priority?: number) {
  const steps = batchSize === 1 ? 1 : 1000;
  const plan = await scriptedPlan(folder, {
    conversations: [conversation(turns)],
    seconds,
    batchSize,
    steps,
  });
  const place = { runs: folder, run, address: server.address, workers: "shared" as const, pool, priority };
  return superviseRun({ ...(await placeRun(plan, place)), temporal: undefined });
}

/** Trains a small run to its end; returns its seconds. */
async function smallRun(server: SharedServer, run: string, priority?: number): Promise<number> {
  const supervised = await joined(server, run, 1, priority);
  try {
    const started = performance.now();
    await finishTraining(supervised, await startTraining(supervised));
    return (performance.now() - started) / 1000;
  } finally {
    await supervised.close();
  }
}

/** Starts the runs of the sweep, and waits until their turns fill the pool. */
async function startSweep(server: SharedServer, name: string): Promise<() => Promise<void>> {
  const runs: SupervisedRun[] = [];
  for (let number = 1; number <= sweep; number++) {
    const run = await joined(server, `${name}-${number}`, inFlight);
    runs.push(run);
    await startTraining(run);
  }
  const full = (sweep * inFlight) / 2;
  while ((await waitingTurns(server)) < full) await sleep(500);
  return async () => void (await Promise.all(runs.map((run) => run.close())));
}

/** The turns that wait in the pool's queue. */
async function waitingTurns({ connection }: SharedServer): Promise<number> {
  const { stats } = await connection.workflowService.describeTaskQueue({
    namespace: "default",
    taskQueue: { name: poolQueue(pool, "policy") },
    taskQueueType: 2,
    reportStats: true,
  });
  return Number(stats?.approximateBacklogCount ?? 0);
}

/** The small run's seconds on one server: alone, and next to the sweep, also with priority. */
async function measured(isFair: boolean, round: number) {
  const server = await startSharedServer([`matching.enableFairness=${isFair}`]);
  const options = ["--pool", pool, "--runs", folder, "--address", server.address];
  const policies = Array.from({ length: policyWorkers }, () => [
    "--role",
    "policy",
    "--at-once",
    String(atOnce),
  ]);
  const workers = await startWorkers(
    [...policies, ["--role", "trainer"]].map((one) => [...one, ...options]),
    join(folder, "workers.log"),
  );
  const name = `${isFair ? "fair" : "unfair"}-${round}`;
  try {
    await smallRun(server, `${name}-first`); // everything is open then
    const alone = await smallRun(server, `${name}-alone`);
    const endSweep = await startSweep(server, `${name}-sweep`);
    const waiting = await waitingTurns(server);
    const beside = await smallRun(server, `${name}-beside`);
    const first = await smallRun(server, `${name}-priority`, 1);
    await endSweep();
    return { alone, beside, first, waiting };
  } finally {
    await workers.stop();
    await server.stop();
  }
}

const [load = 0] = loadavg();
if (load > 0.5) console.warn(`the machine is not idle (load ${load.toFixed(1)}): the numbers will be higher`);
try {
  const fair: Awaited<ReturnType<typeof measured>>[] = [];
  const unfair: Awaited<ReturnType<typeof measured>>[] = [];
  for (let round = 1; round <= Number(values.rounds); round++) {
    fair.push(await measured(true, round));
    unfair.push(await measured(false, round));
  }
  const alone = [...fair, ...unfair].map((one) => one.alone);
  const rows = {
    alone,
    "next to the sweep, with fairness": fair.map((one) => one.beside),
    "… and --priority 1": fair.map((one) => one.first),
    "next to the sweep, without fairness": unfair.map((one) => one.beside),
    "… but --priority 1": unfair.map((one) => one.first),
  };
  const usual = median(alone);
  for (const [name, all] of Object.entries(rows)) {
    const [min, middle] = [Math.min(...all), median(all)];
    console.log(
      `${name}: ${min.toFixed(1)} s (median ${middle.toFixed(1)} s, ${(middle / usual).toFixed(1)} times)`,
    );
  }
  const grown = Math.max(...rows["next to the sweep, with fairness"]) / usual;
  console.log(
    `with fairness, the small run takes at most ${grown.toFixed(1)} times as long; the bound is ${bound}`,
  );
  if (values.json) {
    const pooled = { policyWorkers, atOnce, seconds };
    console.log(
      JSON.stringify({
        benchmark: "fairness",
        load,
        sweep,
        inFlight,
        pool: pooled,
        bound,
        grown,
        fair,
        unfair,
      }),
    );
  }
  if (grown > bound) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
