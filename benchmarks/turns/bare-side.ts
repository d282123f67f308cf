import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Client } from "@temporalio/client";
import { ownModule } from "../../src/base/processes/own-module.ts";
import { memoryFlags } from "../../src/control/supervision/worker-process.ts";

/** A worker process of bare workflows, with the settings of Everturn's own. */
export interface BareWorkflows {
  /** Runs a step of bare trajectories. Returns the seconds that it took. */
  run(): Promise<number>;
  close(): Promise<void>;
}

/** Starts a worker of bare workflows on the server at `address`. */
export async function openBareWorkflows(options: {
  address: string;
  client: Client;
  trajectories: number;
  turns: number;
}): Promise<BareWorkflows> {
  const { address, client, trajectories, turns } = options;
  const taskQueue = "bare";
  const preload = pathToFileURL(ownModule("src/control/temporal/workflow-thread")).href;
  const worker = fork(fileURLToPath(new URL("bare-worker.ts", import.meta.url)), [address, taskQueue], {
    execArgv: [...memoryFlags, "--import", preload],
    stdio: ["ignore", "inherit", "ignore", "ipc"],
  });
  await Promise.race([
    once(worker, "message"),
    once(worker, "exit").then(() => Promise.reject(new Error("the bare worker ended"))),
  ]);
  let number = 0;
  return {
    run: async () => {
      const started = performance.now();
      const workflowId = `bare-${++number}`;
      await client.workflow.execute("bareStep", { workflowId, taskQueue, args: [trajectories, turns] });
      return (performance.now() - started) / 1000;
    },
    close: async () => {
      const ended = once(worker, "exit");
      worker.disconnect();
      await ended;
    },
  };
}
