// A small run next to a sweep of runs on the same pool of workers: its time alone, with fairness, without fairness, and
// without fairness but with priority. The pool's policy workers generate `at-once` turns at a time, and each takes `seconds`.
// node benchmarks/fairness.ts [--sweep 8] [--in-flight 4] [--at-once 2] [--seconds 1] [--rounds 1] [--json]
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
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
import { turnsAhead } from "./machines/turns-ahead.ts";
import { startWorkers } from "./machines/workers.ts";
import { median } from "./shapes.ts";

const { values } = parseArgs({
  options: {
    sweep: { type: "string", default: "8" },
    "in-flight": { type: "string", default: "4" },
    "at-once": { type: "string", default: "2" },
    seconds: { type: "string", default: "1" },
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

/** The bound on the turns of the sweep that go before a turn of the small run: two of each run. */
const aheadBound = 2 * sweep;

/** Policy workers of the pool. */
const policyWorkers = 2;

/** The turns of each trajectory. */
const turns = 4;

const pool = "shared";
const folder = await mkdtemp(join(tmpdir(), "everturn-fairness-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

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

/** How a small run fared: its seconds, and for each of its turns the number of the sweep's turns that went first. */
interface Fared {
  seconds: number;
  ahead: number[];
}

/** Trains a small run to its end. */
async function smallRun(server: SharedServer, run: string, priority?: number): Promise<Fared> {
  const supervised = await joined(server, run, 1, priority);
  try {
    const started = performance.now();
    await finishTraining(supervised, await startTraining(supervised));
    const taken = (performance.now() - started) / 1000;
    console.error(`${run}: ${taken.toFixed(1)} s`);
    return { seconds: taken, ahead: await turnsAhead(server, run) };
  } finally {
    await supervised.close();
  }
}

/** Starts the runs of the sweep, and waits until their turns fill the pool. */
async function startSweep(server: SharedServer, name: string): Promise<() => Promise<void>> {
  const numbers = Array.from({ length: sweep }, (_, index) => index + 1);
  const runs: SupervisedRun[] = await Promise.all(
    numbers.map((number) => joined(server, `${name}-${number}`, inFlight)),
  );
  for (const run of runs) await startTraining(run);
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

/** Runs `work` on a server with a pool of workers. */
async function onPool<Result>(
  isFair: boolean,
  work: (server: SharedServer) => Promise<Result>,
): Promise<Result> {
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
  try {
    return await work(server);
  } finally {
    await workers.stop();
    await server.stop();
  }
}

/** The small run's seconds with fairness: alone, and next to the sweep. */
function fairly(round: number) {
  return onPool(true, async (server) => {
    await smallRun(server, `fair-${round}-first`); // everything is open then
    const alone = await smallRun(server, `fair-${round}-alone`);
    const endSweep = await startSweep(server, `fair-${round}-sweep`);
    const beside = await smallRun(server, `fair-${round}-beside`);
    await endSweep();
    return { alone, beside };
  });
}

/** The small run's seconds next to the sweep without fairness, also with priority. */
function unfairly(round: number) {
  return onPool(false, async (server) => {
    const endSweep = await startSweep(server, `unfair-${round}-sweep`);
    const beside = await smallRun(server, `unfair-${round}-beside`);
    const first = await smallRun(server, `unfair-${round}-priority`, 1);
    await endSweep();
    return { beside, first };
  });
}

const [load = 0] = loadavg();
if (load > 0.5) console.warn(`the machine is not idle (load ${load.toFixed(1)}): the numbers will be higher`);
const fair: Awaited<ReturnType<typeof fairly>>[] = [];
const unfair: Awaited<ReturnType<typeof unfairly>>[] = [];
for (let round = 1; round <= Number(values.rounds); round++) {
  fair.push(await fairly(round));
  unfair.push(await unfairly(round));
}
const rows = {
  alone: fair.map((one) => one.alone),
  "next to the sweep, with fairness": fair.map((one) => one.beside),
  "next to the sweep, without fairness": unfair.map((one) => one.beside),
  "… but --priority 1": unfair.map((one) => one.first),
};
const usual = median(rows.alone.map((one) => one.seconds));
for (const [name, all] of Object.entries(rows)) {
  const took = all.map((one) => one.seconds);
  const [min, middle] = [Math.min(...took), median(took)];
  const ahead = all.flatMap((one) => one.ahead);
  const times = (middle / usual).toFixed(1);
  console.log(
    `${name}: ${min.toFixed(1)} s (median ${middle.toFixed(1)} s, ${times} times); before a turn went ${median(ahead)} others (at most ${Math.max(...ahead)})`,
  );
}
const besideFair = rows["next to the sweep, with fairness"];
const grown = Math.max(...besideFair.map((one) => one.seconds)) / usual;
const ahead = Math.max(...besideFair.flatMap((one) => one.ahead));
console.log(
  `with fairness, the small run takes at most ${grown.toFixed(1)} times as long (bound ${bound}), and at most ${ahead} turns go first (bound ${aheadBound})`,
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
      aheadBound,
      ahead,
      fair,
      unfair,
    }),
  );
}
if (grown > bound || ahead > aheadBound) process.exitCode = 1;
