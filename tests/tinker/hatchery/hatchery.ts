import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchEnvironment } from "../fetch-environment.ts";

/** Hatchery's published server on this machine's CPU. */
export interface HatcheryServer {
  url: string;
  /** Its SQLite queue, which has every executed job. */
  queue: string;
  /** Its checkpoints, by their paths without `tinker://`. */
  checkpoints: string;
  /** The state of the models in the worker, which it writes after each job. There is a folder for each start. */
  live: string;
  /** Its output. */
  log: string;
  /** Ends it. It also ends with this process. */
  stop(): Promise<void>;
}

/** The variable of the key, and the key. */
export const key = { variable: "HATCHERY_TEST_KEY", value: "local" };

/** Milliseconds after which a server that does not answer has failed to start. */
const longestStart = 180_000;

/**
 * Starts Hatchery's server on loopback, with its files in `folder`. It starts again by itself whenever it ends, and remembers its
 * checkpoints. `dtype` is the type of the base model's weights and activations; the server's own is bfloat16.
 */
export async function startHatchery(options: {
  folder: string;
  /** The served model. */
  model: string;
  port: number;
  dtype?: "bfloat16" | "float32";
  /** Variables of its process. */
  mark?: Record<string, string>;
}): Promise<HatcheryServer> {
  const { folder, model, port, dtype = "bfloat16", mark = {} } = options;
  const python = join(await fetchEnvironment("hatchery"), "bin", "python");
  mkdirSync(folder, { recursive: true });
  const at = (name: string) => join(folder, name);
  const [queue, store, live, log] = [at("queue.sqlite"), at("store"), at("live"), at("hatchery.log")];
  // Only the server has the mark, so that its keeper survives.
  const marks = Object.entries(mark).map(([name, value]) => `${name}=${value}`);
  const serve = [python, join(import.meta.dirname, "serve.py"), String(port), model, dtype, live];
  const command = ["env", ...marks, ...serve];
  const output = openSync(log, "a");
  const keeper = spawn(process.execPath, [join(import.meta.dirname, "../kept-server.ts"), ...command], {
    cwd: folder,
    stdio: ["pipe", output, output],
    env: {
      ...process.env,
      HATCHERY_ADMIN_API_KEY: key.value,
      HATCHERY_OBJECT_STORE: "local",
      HATCHERY_LOCAL_STORE_PATH: store,
      HATCHERY_METADATA_STORE: "sqlite",
      HATCHERY_SQLITE_PATH: at("metadata.sqlite"),
      HATCHERY_JOB_QUEUE: "sqlite",
      HATCHERY_SQLITE_QUEUE_PATH: queue,
      HF_HUB_OFFLINE: "1",
      OMP_NUM_THREADS: "1",
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
    throw new Error(`Hatchery's server does not answer: see ${log}`);
  }
  return { url, queue, checkpoints: join(store, "sessions"), live, log, stop };
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/v1/healthz`).catch(() => undefined);
  await answer?.text();
  return answer?.ok ?? false;
}
