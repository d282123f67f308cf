import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import type { Priority } from "@temporalio/common";
import { anyOf } from "../../base/async/abort-signals.ts";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { writeAs } from "../../base/files/write-as.ts";
import { defined } from "../../base/records/defined.ts";
import { tellLog } from "../../base/telemetry/logs.ts";
import { checkTelemetry, startTelemetry } from "../../base/telemetry/telemetry.ts";
import { loopNames, planLoops } from "../../contracts/plan-loops.ts";
import type { Queues } from "../../contracts/trajectory.ts";
import { type OpenRun, openRunFolder } from "../../run/folder/open-runs.ts";
import { pooledRoles, prefixed, rolesToStart } from "../../run/folder/queues.ts";
import { readRunFile } from "../../run/folder/run-file.ts";
import { type RunFolder, runFolder } from "../../run/folder/run-folder.ts";
import { beginSession, endSession } from "../../run/folder/sessions.ts";
import { nameForCommands } from "../../run/folder/store-of.ts";
import { sweepRun, sweptLine } from "../../run/folder/sweep.ts";
import { freeLeftInstances } from "../../work/workers/free-left-instances.ts";
import { codecKeys, codecKeysVariable } from "../encryption/codec-keys.ts";
import { rotateKey, runEncryption } from "../encryption/run-encryption.ts";
import { connectClient } from "../temporal/client.ts";
import { reasonOf, type ServerLocation } from "../temporal/connection-settings.ts";
import { makeCurrent } from "../temporal/deployment.ts";
import { runPriority } from "../temporal/run-priority.ts";
import { registerSearchAttributes } from "../temporal/search-attributes.ts";
import { serverLimits } from "../temporal/server-limits.ts";
import { watchServer } from "../temporal/server-watch.ts";
import { prepareBuilds } from "../temporal/workflow-builds.ts";
import { claimRun } from "./claim-run.ts";
import { deleteDeployments } from "./delete-deployments.ts";
import { loggedNotes } from "./logged-notes.ts";
import { requireDevices } from "./require-devices.ts";
import { type Standstill, watchStandstill } from "./standstill.ts";
import { storageTrouble } from "./storage-trouble.ts";
import { type SupervisedServer, superviseServer } from "./supervised-server.ts";
import { superviseWorkers } from "./supervised-workers.ts";

/** A run with a running server and running workers. */
export interface SupervisedRun {
  run: string;
  /** The run as commands take it, for hints. */
  named: string;
  folder: RunFolder;
  /** The run, opened by this process, with the current plan. */
  opened: OpenRun;
  client: Client;
  address: string;
  namespace: string;
  queues: Queues;
  /** How the server orders its tasks among those of other runs. */
  priority: Priority;
  /** URL of the Temporal UI of the run's own server. */
  ui: string | undefined;
  /** Rejects when the server or a worker ends repeatedly, or would: WORKER_ENDED, LOOP_MODULE_STUCK and similar. */
  failed: Promise<never>;
  /** Lines about what the run has waited for too long. */
  waits(): string[];
  /** Counts the finished work of its workers. */
  progress(): number;
  /** Aborts when it closes, to end long polls. */
  closing: AbortSignal;
  close(): Promise<void>;
}

/**
 * Holds a run, opens it and starts everything that it needs: its dev server (or a connection to the server it
 * joined), its search attributes, and a worker process for each queue. Processes that end by themselves restart and
 * are reported to `note`. It waits for a server that does not answer. `queuePrefix` gives the workers separate
 * queues, so that they don't touch the run's training workflow.
 */
export async function superviseRun(options: {
  runs: string;
  run: string;
  temporal: string | undefined;
  queuePrefix?: string;
  /**
   * Makes the current workflow code the run's. Trajectories in progress finish on their own code, and the training
   * workflow moves on.
   */
  upgrade?: boolean;
  /** Stops restarts and notes, because everything is about to close. */
  stopping?: AbortSignal;
  /**
   * Called with the run once this process holds it, before anything is started. Returns the run to work on, whose plan
   * it may have changed.
   */
  prepare?: (run: OpenRun) => Promise<OpenRun>;
  /** The run, if the caller had to open it before. Default: opens it once this process holds it. */
  opened?: OpenRun;
  /**
   * This process is not Everturn's own: its OpenTelemetry belongs to someone else, and Everturn's spans become
   * children of theirs.
   */
  isGuest?: boolean;
  note?: (text: string) => void;
}): Promise<SupervisedRun> {
  const { runs, run, stopping } = options;
  const file = await readRunFile(runs, run, () => {}); // unreadable records are reported when the run is opened
  const folder = runFolder(runs, run);
  const logged = loggedNotes(folder.log("session"), options.note);
  const note = (text: string) => {
    if (stopping?.aborted === true) return;
    logged(text);
    tellLog({ level: "WARN", message: text, attributes: { "everturn.run": run } });
  };
  checkTelemetry(file.telemetry);
  const held = await claimRun(run, folder, defined({ note, stopping }));
  const undo = writeAs(folder.root);
  const release = async () => {
    await held.release();
    undo();
  };
  const found =
    options.opened ??
    (await openRunFolder(runs, run, ({ notice }) => note(notice)).catch(async (error) => {
      await release();
      throw error;
    }));
  if (held.diedAt !== undefined) await endSession(folder, held.diedAt);
  const swept = sweptLine(await sweepRun(found));
  if (swept !== undefined) note(swept);
  const telemetry = await startTelemetry("cli", file.telemetry, options.isGuest !== true);
  const started: { stop(): Promise<void> }[] = [telemetry];
  const controller = new AbortController();
  const closing = anyOf(controller.signal, stopping);
  const close = async () => {
    controller.abort();
    for (const part of started.reverse()) await part.stop();
    await endSession(folder, Date.now());
    await sweepRun(found);
    await freeLeftInstances(runs, run);
    await release();
  };
  try {
    const { upgrade = false, prepare = async () => found } = options;
    const opened = await prepare(found);
    const { plan } = opened;
    // Workers on queues of their own belong to this process.
    const startsWorkers = file.workers !== "elsewhere" || options.queuePrefix !== undefined;
    const pool = options.queuePrefix === undefined ? file.pool : undefined;
    if (startsWorkers && pool === undefined) requireDevices(plan, options.queuePrefix === undefined);
    const missing = startsWorkers ? [] : rolesToStart(file.queues, pool);
    const named = await nameForCommands(runs, run);
    if (missing.length > 0)
      note(`start the workers with npx everturn worker --run ${named} --role ROLE (${missing.join(", ")})`);
    if (pool !== undefined)
      note(
        `workers of the pool ${pool} generate and train: npx everturn worker --pool ${pool} --role ROLE (${pooledRoles.join(", ")})`,
      );
    await rotateKey(runs, file);
    const encryption = await runEncryption(runs, file);
    const encrypts = encryption !== undefined;
    if (!encrypts && codecKeys().length > 0)
      note(`the payloads of ${run} are not encrypted, because it was created without ${codecKeysVariable}`);
    const bundling = prepareBuilds(opened, planLoops(plan), {
      telemetry: file.telemetry,
      encrypts,
      upgrade,
      isShared: file.store !== undefined,
    });
    bundling.catch(() => {}); // it may fail while the server starts, before it is awaited
    let finished = 0;
    const progress = () => finished;
    let own: SupervisedServer | undefined;
    if (file.address === undefined) {
      own = await superviseServer({
        run,
        folder,
        held,
        temporal: options.temporal,
        progress,
        note,
        stopping,
      });
      started.push(own);
    } else {
      await held.tell({ address: file.address });
    }
    const builds = await bundling;
    const build = builds.at(-1);
    if (upgrade)
      note(
        `workflow code ${build} is current; running workflows finish on ${builds.slice(0, -1).join(", ") || "it"}`,
      );
    const address = file.address ?? own?.address ?? "";
    const location: ServerLocation = { address, namespace: file.namespace, isOwn: own !== undefined };
    const limits = serverLimits(file.namespace, note);
    const connecting = connectClient(location, telemetry.plugins, closing, {
      outlastsOutages: true,
      encryption,
      onLimited: limits.hear,
    });
    const ownFailed = own === undefined ? [] : [own.failed];
    const connected = await Promise.race([connecting, ...ownFailed]);
    started.push({ stop: connected.close });
    const { client, connection } = connected;
    await registerSearchAttributes(connection, location);
    const watch = watchServer(connection, address, note);
    started.push(watch);
    const queuePrefix = options.queuePrefix ?? "";
    const queues = prefixed(queuePrefix, file.queues);
    if (build !== undefined && queuePrefix === "") await makeCurrent(client, location, run, build, closing);
    if (own === undefined) {
      const tidying = deleteDeployments(client, { runs, except: run }).catch((error) => {
        if (!closing.aborted)
          note(`worker deployments of finished runs could not be removed: ${reasonOf(error)}`);
      });
      started.push({ stop: async () => void (await tidying) });
    }
    const trouble = storageTrouble(run);
    started.push(trouble);
    const isServerUp = () => watch.isUp() && own?.isUp() !== false;
    const standstill: Standstill = watchStandstill({
      client,
      run,
      named,
      queue: queues.orchestration,
      progress,
      isServerUp,
      limits,
      note,
      closing,
    });
    started.push(standstill);
    const stuck = Promise.withResolvers<never>();
    stuck.promise.catch(() => {}); // those who wait for it see it
    const workers = await superviseWorkers(startsWorkers ? rolesToStart(queues, pool) : [], {
      runs,
      run,
      address,
      queuePrefix,
      progress,
      note,
      stopping,
      onProgress: () => void finished++,
      onNotice: (notice) => {
        // Every worker would get stuck.
        if (notice.code === "LOOP_MODULE_STUCK")
          return stuck.reject(new EverturnError(notice.code, { loop: loopNames(plan) }));
        note(notice.notice);
        trouble.hear(notice);
      },
      onWaits: standstill.hear,
      isServerUp: () => own?.isUp() ?? watch.isUp(),
      untilServerAnswers: async () => {
        while (own?.isUp() === false && !closing.aborted) await sleep(200); // another server may answer on its port
        await connection.workflowService.getSystemInfo({});
      },
    });
    started.push(workers);
    if (own !== undefined && queuePrefix === "") await beginSession(folder);
    const failed = Promise.race([workers.failed, stuck.promise, trouble.failed, held.taken, ...ownFailed]);
    failed.catch(() => {}); // those who wait for it see it
    return {
      run,
      named,
      folder,
      opened,
      client,
      address,
      queues,
      failed,
      close,
      namespace: file.namespace,
      priority: runPriority(file),
      ui: own?.ui,
      waits: standstill.lines,
      progress,
      closing,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
