import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { patiently } from "../../base/files/patiently.ts";
import { looking } from "../../base/files/storage-errors.ts";
import { watchKernelKills } from "../../base/processes/kernel-kills.ts";
import { killOnExit } from "../../base/processes/kill-on-exit.ts";
import type { Notice } from "../../base/processes/notice.ts";
import { ownModule } from "../../base/processes/own-module.ts";
import { type Ending, endingOf } from "../../base/processes/process-ending.ts";
import { processLog } from "../../base/processes/process-log.ts";
import { samplingEnvironment, trainingEnvironment } from "../../engine/onnx/allocator.ts";
import type { Role } from "../../run/folder/queues.ts";
import { runFolder } from "../../run/folder/run-folder.ts";
import type { Wait } from "../temporal/waits.ts";

const main = ownModule("src/apps/cli/main");
const preload = pathToFileURL(ownModule("src/control/temporal/workflow-thread")).href;

/** A worker in a process of its own. */
export interface WorkerProcess {
  pid: number;
  /** Resolves when the process ends, requested or not. */
  ended: Promise<Ending>;
  /** Asks it to end and kills it after ten seconds, or after one if `isServerUp` reports that the server is down. */
  stop(isServerUp?: () => boolean): Promise<void>;
}

/** How long a worker may take to end, in ms. */
const grace = { server: 10_000, noServer: 1000 };

/**
 * Node options of workers, in MiB: they collect short-lived objects less often, and others only once there are many.
 */
export const memoryFlags = [
  "--min-semi-space-size=32",
  "--max-semi-space-size=64",
  "--initial-old-space-size=256",
];

const nodeOptions = [...memoryFlags, "--import", preload];

/** Whether a command started this worker. Otherwise a person or another program did. */
export function isSupervised(): boolean {
  return process.send !== undefined;
}

/**
 * Replaces this process, if it is a worker that a person started, by one with the Node options and the environment of
 * a command's workers. Does nothing on Windows, which can't replace a process.
 */
export function becomeWorkerProcess(role: Role): void {
  if (isSupervised() || process.execArgv.includes(preload) || process.platform === "win32") return;
  const [node, ...script] = process.argv;
  const options = [...nodeOptions, ...process.execArgv, ...script];
  process.execve?.(process.execPath, [node ?? process.execPath, ...options], environmentOf(role));
}

function environmentOf(role: Role): NodeJS.ProcessEnv {
  return (role === "trainer" ? trainingEnvironment : samplingEnvironment)(process.env);
}

/**
 * Starts `everturn worker` for a role and waits until it polls its queue. Its output goes to the run's logs.
 * `onProgress` is called when it has finished activities, `onNotice` with notices for the user, and `onWaits` with
 * its waiting local activities. Throws WORKER_ENDED and WORKER_OUT_OF_MEMORY if it ends before it polls, including
 * because `stopping` aborted.
 */
export async function startWorkerProcess(
  role: Role,
  options: { runs: string; run: string; address: string; queuePrefix: string },
  told: {
    onProgress?: () => void;
    onNotice?: (notice: Notice) => void;
    onWaits?: (waits: Wait[]) => void;
    stopping?: AbortSignal;
  } = {},
): Promise<WorkerProcess> {
  const { runs, run, address, queuePrefix } = options;
  const { onProgress, onNotice, onWaits, stopping } = told;
  const path = runFolder(runs, run).log(role);
  const { log, output } = await patiently(async () =>
    looking(path, () => {
      makeFolder(dirname(path));
      return { log: processLog(path), output: openSync(path, "a") };
    }),
  );
  const parameters = ["--role", role, "--run", run, "--runs", runs, "--address", address];
  if (queuePrefix !== "") parameters.push("--queue-prefix", queuePrefix);
  const kills = watchKernelKills();
  const child = spawn(process.execPath, [...nodeOptions, main, "worker", ...parameters], {
    stdio: ["ignore", output, output, "ipc"],
    env: environmentOf(role),
  });
  closeSync(output);
  killOnExit(child);
  const ended = once(child, "exit").then(([code, signal]): Ending => {
    const kernelKilled = kills.stop();
    return endingOf({ code, signal, output: log.text(), lines: log.tail(), kernelKilled });
  });
  const kill = () => child.kill("SIGKILL");
  stopping?.addEventListener("abort", kill, { once: true });
  if (stopping?.aborted) kill();
  const ending = await Promise.race([once(child, "message").then(() => undefined), ended]);
  stopping?.removeEventListener("abort", kill);
  if (ending !== undefined) throw workerEnded({ role, run, log: path, ending, times: "before it worked" });
  child.on("message", (message) => {
    if (message === "progress") onProgress?.();
    else if (isNotice(message)) onNotice?.(message);
    else if (isWaits(message)) onWaits?.(message.waits);
  });
  return { pid: child.pid ?? -1, ended, stop };

  /** Asks the worker to end by closing its channel. */
  async function stop(isServerUp = () => true): Promise<void> {
    if (child.connected) child.disconnect();
    const asked = performance.now();
    const killer = setInterval(() => {
      if (performance.now() - asked > (isServerUp() ? grace.server : grace.noServer)) kill();
    }, 100);
    await ended;
    clearInterval(killer);
  }
}

/** The error that explains how a worker ended, and what to do about it. */
export function workerEnded(options: {
  role: Role;
  run: string;
  log: string;
  ending: Ending;
  times: string;
}): EverturnError {
  const { role, run, log, times, ending } = options;
  const params = { role, run, log, times, reason: ending.reason, lines: ending.lines };
  return new EverturnError(ending.outOfMemory ? "WORKER_OUT_OF_MEMORY" : "WORKER_ENDED", params);
}

function isNotice(message: unknown): message is Notice {
  return typeof message === "object" && message !== null && "notice" in message && "code" in message;
}

function isWaits(message: unknown): message is { waits: Wait[] } {
  return typeof message === "object" && message !== null && "waits" in message;
}
