import { hostname } from "node:os";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { activitiesOf } from "../../../../activities/of-role.ts";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { heedMark } from "../../../base/files/marked-folder.ts";
import { patiently } from "../../../base/files/patiently.ts";
import { writeAs } from "../../../base/files/write-as.ts";
import { limitExternalMemoryWithHeap } from "../../../base/processes/external-memory.ts";
import { startTelemetry, telemetryIsOn } from "../../../base/telemetry/telemetry.ts";
import type { RunFile } from "../../../contracts/run.ts";
import { codecKeys, codecKeysVariable } from "../../../control/encryption/codec-keys.ts";
import { dataConverter, poolDataConverter } from "../../../control/encryption/data-converter.ts";
import { runEncryption } from "../../../control/encryption/run-encryption.ts";
import { heldRunAddress, noServer, readRunHolder } from "../../../control/supervision/run-holder.ts";
import { becomeWorkerProcess, isSupervised } from "../../../control/supervision/worker-process.ts";
import { locationFromEnvironment } from "../../../control/temporal/connection-settings.ts";
import { exportSdkLogs } from "../../../control/temporal/exported-logs.ts";
import { runWorker } from "../../../control/temporal/worker.ts";
import { forgetTunables } from "../../../engine/onnx/allocator.ts";
import { checkHome } from "../../../run/folder/home.ts";
import {
  pooledRoles,
  poolQueue,
  prefixed,
  type Role,
  roles,
  rolesBeside,
} from "../../../run/folder/queues.ts";
import { readRunFile } from "../../../run/folder/run-file.ts";
import { runFolder } from "../../../run/folder/run-folder.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { joinRuns } from "../../../run/folder/store-runs.ts";
import { count, positiveCount } from "../terminal/option-values.ts";
import { workerEnding } from "../terminal/worker-ending.ts";

interface Options {
  role: Role;
  run?: string;
  pool?: string;
  runs: string;
  address?: string;
  namespace?: string;
  queuePrefix?: string;
  atOnce?: number;
  grace: number;
}

/** How long the running work of a command's worker may take to finish when the command ends, in ms. */
const supervisedGrace = 2000;

/** How many turns a pool's policy worker generates at once. The others wait at the server, which orders them by run. */
const pooledTurns = 64;

/**
 * `everturn worker`: runs one worker of a run, or of a pool, on this machine, which must have access to the store or
 * folder of the runs.
 */
export function registerWorker(program: Command): void {
  program
    .command("worker")
    .description("run one worker of a run, or of a pool that serves several runs, in this process")
    .addOption(new Option("--role <role>", "role of the worker").choices(roles).makeOptionMandatory())
    .option("--run <run>", "id of the run, or path of its folder")
    .option("--pool <name>", "serve all runs of this pool (roles policy and trainer)")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option(
      "--address <host:port>",
      "Temporal server of the run, if it differs from the run's setting, or of the pool",
    )
    .option("--namespace <name>", "namespace of the pool on that server")
    .option("--queue-prefix <prefix>", "poll queues with this prefix instead of the run's queues")
    .option(
      "--at-once <number>",
      `number of activities at once (default: as many as suit the role; ${pooledTurns} turns for a pool)`,
      positiveCount,
    )
    .option("--grace <seconds>", "at SIGTERM, how long running work may take to finish", count, 20)
    .action(work);
}

async function work(options: Options): Promise<void> {
  becomeWorkerProcess(options.role);
  try {
    await workFor(options);
  } finally {
    if (process.connected) process.disconnect(); // an open channel would keep a failed worker alive
  }
}

/**
 * For how many ms the SDK waits for the answer to its last request for work. Without a wait, the server gives work to
 * a worker that no longer listens, and repeats it after a time-out (temporalio/sdk-rust#1080).
 */
const pollWaitVariable = "TEMPORAL_POLL_SHUTDOWN_INTERRUPT_WAIT_MS";

/** What a worker serves, and where. */
interface Served {
  name: string;
  telemetry: boolean;
  worker: Pick<
    Parameters<typeof runWorker>[0],
    "runs" | "run" | "location" | "queue" | "serves" | "deployment" | "dataConverter" | "atOnce"
  >;
}

async function workFor(options: Options): Promise<void> {
  forgetTunables(process.env);
  limitExternalMemoryWithHeap();
  const { role } = options;
  const grace = isSupervised() ? supervisedGrace : options.grace * 1000;
  const ending = workerEnding(grace);
  if (!isSupervised()) process.env[pollWaitVariable] ??= "1000";
  const served = await servedBy(options);
  delete process.env[codecKeysVariable]; // tools' and agents' processes must not inherit the keys
  const telemetry = await startTelemetry(role, served.telemetry);
  const logs = telemetry.exportsLogs ? [exportSdkLogs()] : [];
  const say = (text: string) => process.stdout.write(`${role} worker of ${served.name} ${text}\n`);
  try {
    await runWorker({
      ...served.worker,
      role,
      makeActivities: activitiesOf,
      plugins: [...telemetry.plugins, ...logs],
      ended: ending.promise,
      grace,
      onProgress: () => tell("progress"),
      onWaits: (waits) => tell({ waits }),
      onReady: () => {
        ending.isReady();
        tell("ready");
        say(`polls ${served.worker.location.address}`);
        if (isSupervised()) return;
        const told = () => say(`takes no new work; what it works on has ${options.grace} s to finish`);
        void ending.promise.then(told);
      },
    });
  } finally {
    await telemetry.stop();
  }
  if (isSupervised()) return;
  say("has ended");
  process.exit(0); // an activity that did not end in time would keep the process alive
}

/** Throws WORKER_SERVES_NOTHING without a run or a pool, and the errors of opening a run. */
async function servedBy(options: Options): Promise<Served> {
  const { run, pool, role } = options;
  if (run !== undefined && pool === undefined) return ofRun(run, options);
  const pooledRole = pooledRoles.find((one) => one === role);
  if (pool === undefined || run !== undefined || pooledRole === undefined)
    throw new EverturnError("WORKER_SERVES_NOTHING", { role });
  return ofPool(pool, pooledRole, options);
}

async function ofRun(named: string, options: Options): Promise<Served> {
  const { runs, run } = runReference(named, options.runs);
  const folder = runFolder(runs, run);
  await patiently(async () => checkHome(folder.root, run));
  await patiently(async () => heedMark(folder.root));
  const file = await readRunFile(runs, run);
  writeAs(folder.root);
  const address = options.address ?? (await addressOf(file, runs));
  const { cluster } = (await readRunHolder(folder)) ?? {};
  const encryption = await runEncryption(runs, file, `The ${options.role} worker of ${run} on ${hostname()}`);
  const queues = prefixed(options.queuePrefix ?? "", file.queues);
  return {
    name: run,
    telemetry: file.telemetry,
    worker: {
      runs,
      run,
      location: { address, namespace: file.namespace, isOwn: file.address === undefined, cluster },
      queue: queues[options.role],
      serves: rolesBeside(options.role, queues),
      deployment: options.queuePrefix === undefined ? run : undefined,
      dataConverter: dataConverter(encryption),
      atOnce: options.atOnce,
    },
  };
}

/** Throws POOL_NEEDS_SERVER and CODEC_KEYS_MALFORMED. */
function ofPool(pool: string, role: (typeof pooledRoles)[number], options: Options): Served {
  const runs = resolve(options.runs);
  const environment = locationFromEnvironment();
  const address = options.address ?? environment.address;
  if (address === undefined) throw new EverturnError("POOL_NEEDS_SERVER", { pool });
  const namespace = options.namespace ?? environment.namespace ?? "default";
  const name = `the pool ${pool}`;
  const who = `The ${role} worker of ${name} on ${hostname()}`;
  const keys = codecKeys();
  const encryptionOf = async (run: string) => {
    await joinRuns(runs, run); // payloads are decrypted before an activity opens its run
    return runEncryption(runs, await readRunFile(runs, run), who, keys);
  };
  return {
    name,
    telemetry: telemetryIsOn(),
    worker: {
      runs,
      location: { address, namespace, isOwn: false },
      queue: poolQueue(pool, role),
      serves: [role],
      deployment: undefined,
      dataConverter: poolDataConverter(encryptionOf, keys.length > 0),
      atOnce: options.atOnce ?? (role === "policy" ? pooledTurns : undefined),
    },
  };
}

/** Sends a message to the command that started this worker, while it listens. */
function tell(message: unknown): void {
  if (process.connected) process.send?.(message);
}

/** The address of the server that the run joined, or of its own server if that is up. */
async function addressOf({ run, address }: RunFile, runs: string): Promise<string> {
  const folder = runFolder(runs, run);
  const known = address ?? (await heldRunAddress(folder));
  if (known === undefined) throw await noServer(run, folder);
  return known;
}
