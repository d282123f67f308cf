import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How a published server is started. */
interface KeptServerOptions {
  /** For errors. */
  name: string;
  /** Its working directory, which is created. */
  folder: string;
  /** The file of its output. */
  log: string;
  /** The program and its parameters. */
  command: readonly string[];
  environment: Record<string, string>;
  /** Variables of the server's processes, but not of the one that keeps them alive. */
  mark: Record<string, string>;
  port: number;
  /** Milliseconds after which a server that does not answer has failed to start. */
  longestStart: number;
}

/** Starts a server on loopback, and waits until it answers. It starts again by itself whenever it ends. */
export async function startKeptServer(options: KeptServerOptions) {
  const { name, folder, log, command, environment, mark, port, longestStart } = options;
  mkdirSync(folder, { recursive: true });
  const marks = Object.entries(mark).map(([variable, value]) => `${variable}=${value}`);
  const kept = [join(import.meta.dirname, "kept-server.ts"), "env", ...marks, ...command];
  const output = openSync(log, "a");
  const keeper = spawn(process.execPath, kept, {
    cwd: folder,
    stdio: ["pipe", output, output],
    env: { ...process.env, ...environment, HF_HUB_OFFLINE: "1" },
  });
  const url = `http://127.0.0.1:${port}`;
  /** Ends it and all its processes. They also end with this process. */
  const stop = async () => {
    if (keeper.exitCode !== null || keeper.signalCode !== null) return;
    const ended = once(keeper, "exit");
    keeper.stdin?.end();
    await ended;
  };
  for (const deadline = Date.now() + longestStart; !(await answers(url)); await sleep(500)) {
    if (Date.now() < deadline) continue;
    await stop();
    throw new Error(`${name}'s server does not answer: see ${log}`);
  }
  return { url, stop };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/v1/healthz`).catch(() => undefined);
  await answer?.text();
  return answer?.ok ?? false;
}
