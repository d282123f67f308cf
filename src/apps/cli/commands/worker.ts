import { hostname } from "node:os";
import { type Command, Option } from "commander";
import { activitiesOf } from "../../../../activities/of-role.ts";
import { heedMark } from "../../../base/files/marked-folder.ts";
import { patiently } from "../../../base/files/patiently.ts";
import { writeAs } from "../../../base/files/write-as.ts";
import { startTelemetry } from "../../../base/telemetry/telemetry.ts";
import type { RunFile } from "../../../contracts/run.ts";
import { codecKeysVariable } from "../../../control/encryption/codec-keys.ts";
import { runEncryption } from "../../../control/encryption/run-encryption.ts";
import { heldRunAddress, noServer, readRunHolder } from "../../../control/supervision/run-holder.ts";
import { becomeWorkerProcess, isSupervised } from "../../../control/supervision/worker-process.ts";
import { exportSdkLogs } from "../../../control/temporal/exported-logs.ts";
import { runWorker } from "../../../control/temporal/worker.ts";
import { forgetTunables } from "../../../engine/onnx/allocator.ts";
import { checkHome } from "../../../run/folder/home.ts";
import { prefixed, type Role, roles } from "../../../run/folder/queues.ts";
import { readRunFile } from "../../../run/folder/run-file.ts";
import { runFolder } from "../../../run/folder/run-folder.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { count } from "../terminal/option-values.ts";
import { workerEnding } from "../terminal/worker-ending.ts";

interface Options {
  role: Role;
  run: string;
  runs: string;
  address?: string;
  queuePrefix?: string;
  grace: number;
}

/** How long the running work of a command's worker may take to finish when the command ends, in ms. */
const supervisedGrace = 2000;

/** `everturn worker`: runs one worker of a run on this machine, which must have access to the run's folder. */
export function registerWorker(program: Command): void {
  program
    .command("worker")
    .description("run one worker of a run in this process")
    .addOption(new Option("--role <role>", "role of the worker").choices(roles).makeOptionMandatory())
    .requiredOption("--run <run>", "id of the run, or path of its folder")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--address <host:port>", "Temporal server of the run, if it differs from the run's setting")
    .option("--queue-prefix <prefix>", "poll queues with this prefix instead of the run's queues")
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

async function workFor(options: Options): Promise<void> {
  forgetTunables(process.env);
  const grace = isSupervised() ? supervisedGrace : options.grace * 1000;
  const ending = workerEnding(grace);
  const { runs, run } = runReference(options.run, options.runs);
  const { root } = runFolder(runs, run);
  await patiently(async () => checkHome(root, run));
  await patiently(async () => heedMark(root));
  const file = await readRunFile(runs, run);
  writeAs(runFolder(runs, run).root);
  const address = options.address ?? (await addressOf(file, runs));
  const { cluster } = (await readRunHolder(runFolder(runs, run))) ?? {};
  const encryption = await runEncryption(runs, file, `The ${options.role} worker of ${run} on ${hostname()}`);
  delete process.env[codecKeysVariable]; // tools' and agents' processes must not inherit the keys
  const telemetry = await startTelemetry(options.role, file.telemetry);
  const logs = telemetry.exportsLogs ? [exportSdkLogs()] : [];
  const say = (text: string) => process.stdout.write(`${options.role} worker of ${run} ${text}\n`);
  try {
    await runWorker({
      role: options.role,
      run,
      runs,
      location: { address, namespace: file.namespace, isOwn: file.address === undefined, cluster },
      queues: prefixed(options.queuePrefix ?? "", file.queues),
      makeActivities: activitiesOf,
      deployment: options.queuePrefix === undefined ? run : undefined,
      plugins: [...telemetry.plugins, ...logs],
      encryption,
      ended: ending.promise,
      grace,
      onProgress: () => tell("progress"),
      onWaits: (waits) => tell({ waits }),
      onReady: () => {
        ending.isReady();
        tell("ready");
        say(`polls ${address}`);
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
