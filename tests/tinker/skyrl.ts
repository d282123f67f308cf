import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchEnvironment } from "./fetch-environment.ts";

/** SkyRL's published server on this machine's CPU. */
export interface SkyrlServer {
  url: string;
  /** Its SQLite database, which has every request. */
  database: string;
  /** Its output. */
  log: string;
  /** Ends it and all its processes. They also end with this process. */
  stop(): Promise<void>;
}

/** Milliseconds after which a server that does not answer has failed to start. */
const longestStart = 120_000;

/**
 * Starts SkyRL's server on loopback, with its files in `folder`. It starts again by itself whenever it ends. `mark` is in the
 * environment of its processes, but not of the one that keeps them alive.
 */
export async function startSkyrl(options: {
  folder: string;
  /** The served model. */
  model: string;
  port: number;
  mark?: Record<string, string>;
}): Promise<SkyrlServer> {
  const { folder, model, port, mark = {} } = options;
  const environment = await fetchEnvironment("skyrl");
  const bin = join(environment, "bin");
  mkdirSync(folder, { recursive: true });
  const [database, log] = [join(folder, "skyrl.sqlite"), join(folder, "skyrl.log")];
  const place = ["--host", "127.0.0.1", "--port", String(port)];
  const files = [
    "--checkpoints-base",
    join(folder, "checkpoints"),
    "--database-url",
    `sqlite:///${database}`,
  ];
  // The server starts its engine by the command of its parent process, which has to be `uv run`.
  const uv = [join(bin, "uv"), "run", "--no-project", "-m", "skyrl.tinker.api"];
  const marks = Object.entries(mark).map(([name, value]) => `${name}=${value}`);
  const command = ["env", ...marks, ...uv, ...place, "--base-model", model, "--backend", "jax", ...files];
  const output = openSync(log, "a");
  const keeper = spawn(process.execPath, [join(import.meta.dirname, "kept-server.ts"), ...command], {
    cwd: folder,
    stdio: ["pipe", output, output],
    env: {
      ...process.env,
      VIRTUAL_ENV: environment,
      PATH: [bin, process.env.PATH].join(delimiter),
      JAX_PLATFORMS: "cpu",
      // What it has compiled for a shape is kept for later servers.
      JAX_COMPILATION_CACHE_DIR: join(environment, "../compiled"),
      JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: "0",
      HF_HUB_OFFLINE: "1",
      UV_OFFLINE: "1",
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (keeper.exitCode !== null || keeper.signalCode !== null) return;
    const ended = once(keeper, "exit");
    keeper.stdin?.end();
    await ended;
  };
  for (const deadline = Date.now() + longestStart; !(await answers(url)); await sleep(500)) {
    if (Date.now() < deadline) continue;
    await stop();
    throw new Error(`SkyRL's server does not answer: see ${log}`);
  }
  return { url, database, log, stop };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/v1/healthz`).catch(() => undefined);
  await answer?.text();
  return answer?.ok ?? false;
}
