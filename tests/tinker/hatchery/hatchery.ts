import { join } from "node:path";
import { fetchEnvironment } from "../fetch-environment.ts";
import { startKeptServer } from "../start-kept-server.ts";

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
  const at = (name: string) => join(folder, name);
  const [queue, store, live, log] = [at("queue.sqlite"), at("store"), at("live"), at("hatchery.log")];
  const { url, stop } = await startKeptServer({
    name: "Hatchery",
    folder,
    log,
    command: [python, join(import.meta.dirname, "serve.py"), String(port), model, dtype, live],
    environment: {
      HATCHERY_ADMIN_API_KEY: key.value,
      HATCHERY_OBJECT_STORE: "local",
      HATCHERY_LOCAL_STORE_PATH: store,
      HATCHERY_METADATA_STORE: "sqlite",
      HATCHERY_SQLITE_PATH: at("metadata.sqlite"),
      HATCHERY_JOB_QUEUE: "sqlite",
      HATCHERY_SQLITE_QUEUE_PATH: queue,
      OMP_NUM_THREADS: "1",
    },
    mark,
    port,
    longestStart: 180_000,
  });
  return { url, queue, checkpoints: join(store, "sessions"), live, log, stop };
}
