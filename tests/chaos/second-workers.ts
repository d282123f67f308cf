import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startCli } from "./cli-process.ts";

/**
 * Keeps a second worker for each role of a run, started by hand as a person would: one that ends is started again
 * while the run has a server. Resolves once `ended` aborts and the workers have ended.
 */
export async function keepSecondWorkers(options: {
  mark: string;
  runs: string;
  /** The run's name, once it is known. */
  run: () => string | undefined;
  roles: readonly string[];
  log: string;
  ended: AbortSignal;
}): Promise<void> {
  const { mark, runs, run, roles, log, ended } = options;

  async function keep(role: string): Promise<void> {
    while (!ended.aborted) {
      await sleep(1000);
      const name = run();
      if (name === undefined || !hasServer(join(runs, name))) continue;
      const worker = startCli(mark, log, ["worker", "--role", role, "--run", name, "--runs", runs]);
      const end = () => worker.child.kill("SIGTERM");
      ended.addEventListener("abort", end);
      if (ended.aborted) end();
      await worker.ended;
      ended.removeEventListener("abort", end);
    }
  }

  await Promise.all(roles.map(keep));
}

/** Whether the run's session says where its server is. */
function hasServer(root: string): boolean {
  try {
    return JSON.parse(readFileSync(join(root, "session.json"), "utf8")).address !== undefined;
  } catch {
    return false; // it is not there yet, is being written, or was taken away
  }
}
