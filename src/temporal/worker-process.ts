import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { EverturnError } from "../errors/everturn-error.ts";
import { trainingEnvironment } from "../onnx/allocator.ts";
import { runFolder } from "../runs/run-folder.ts";
import type { Role } from "./queues.ts";

const here = dirname(fileURLToPath(import.meta.url));
const main = join(here, "..", "cli", "main.ts");
const preload = pathToFileURL(join(here, "workflow-thread.ts")).href;

/** A worker in a process of its own. */
export interface WorkerProcess {
  role: Role;
  pid: number;
  /** Rejects with WORKER_ENDED if the process ends before it was told to. */
  failed: Promise<never>;
  stop(): Promise<void>;
}

/** Starts `everturn worker` for a role and waits until it polls its queue. Its output goes to the run's logs. */
export async function startWorkerProcess(
  role: Role,
  { runs, run, address, queuePrefix }: { runs: string; run: string; address: string; queuePrefix: string },
): Promise<WorkerProcess> {
  const log = runFolder(runs, run).log(role);
  mkdirSync(dirname(log), { recursive: true });
  const output = openSync(log, "a");
  const options = ["--role", role, "--run", run, "--runs", runs, "--address", address];
  if (queuePrefix !== "") options.push("--queue-prefix", queuePrefix);
  const child = spawn(process.execPath, ["--import", preload, main, "worker", ...options], {
    stdio: ["ignore", output, output, "ipc"],
    env: role === "trainer" ? trainingEnvironment(process.env) : process.env,
  });
  closeSync(output);
  let stopping = false;
  const failed = new Promise<never>((_, reject) => {
    child.once("exit", (code, signal) => {
      const reason = signal ?? `exit code ${code}`;
      if (!stopping) reject(new EverturnError("WORKER_ENDED", { role, run, log, reason }));
    });
  });
  failed.catch(() => {});
  await Promise.race([once(child, "message"), failed]);
  return { role, pid: child.pid ?? -1, failed, stop };

  /** Asks the worker to end by closing its channel; kills it after ten seconds. */
  async function stop(): Promise<void> {
    stopping = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    if (child.connected) child.disconnect();
    const killer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(killer);
  }
}
