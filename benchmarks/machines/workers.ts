import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { killOnExit } from "../../src/base/processes/kill-on-exit.ts";
import { ownModule } from "../../src/base/processes/own-module.ts";

const main = ownModule("src/apps/cli/main");

// An interrupted benchmark leaves no processes behind.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const { ppid } = process;
if (process.env.npm_lifecycle_event !== undefined)
  // npm passes a signal to its shell, which ends without passing it on.
  setInterval(() => process.ppid !== ppid && process.exit(1), 500).unref();

/** Workers that `everturn worker` started. */
export interface Workers {
  stop(): Promise<void>;
}

/** Starts a worker with each of these options of `everturn worker`, and waits until all of them poll. They log to `log`. */
export async function startWorkers(
  each: readonly (readonly string[])[],
  log: string,
  env: Record<string, string> = {},
): Promise<Workers> {
  const output = openSync(log, "a");
  const children = each.map((options) =>
    spawn(process.execPath, [main, "worker", ...options], {
      stdio: ["ignore", "pipe", output],
      env: { ...process.env, ...env },
    }),
  );
  closeSync(output);
  children.forEach(killOnExit);
  await Promise.all(children.map(untilItPolls));
  return {
    stop: async () => {
      const ended = children.map((child) => child.exitCode !== null || once(child, "exit"));
      for (const child of children) child.kill("SIGTERM");
      await Promise.all(ended);
    },
  };
}

function untilItPolls(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (text) => String(text).includes("polls") && resolve());
    child.once("exit", (code) => reject(new Error(`a worker ended with ${code}`)));
  });
}
