import { delimiter, join } from "node:path";
import { fetchEnvironment } from "./fetch-environment.ts";
import { startKeptServer } from "./start-kept-server.ts";

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
  /** Settings of its back end. */
  backend?: Record<string, number>;
}): Promise<SkyrlServer> {
  const { folder, model, port, mark = {}, backend = {} } = options;
  const environment = await fetchEnvironment("skyrl");
  const bin = join(environment, "bin");
  const [database, log] = [join(folder, "skyrl.sqlite"), join(folder, "skyrl.log")];
  const place = ["--host", "127.0.0.1", "--port", String(port)];
  const files = [
    "--checkpoints-base",
    join(folder, "checkpoints"),
    "--database-url",
    `sqlite:///${database}`,
  ];
  const engine = ["--backend", "jax", "--backend-config", JSON.stringify(backend)];
  // The server starts its engine by the command of its parent process, which has to be `uv run`.
  const uv = [join(bin, "uv"), "run", "--no-project", "-m", "skyrl.tinker.api"];
  const { url, stop } = await startKeptServer({
    name: "SkyRL",
    folder,
    log,
    command: [...uv, ...place, "--base-model", model, ...engine, ...files],
    environment: {
      VIRTUAL_ENV: environment,
      PATH: [bin, process.env.PATH].join(delimiter),
      JAX_PLATFORMS: "cpu",
      // What it has compiled for a shape is kept for later servers.
      JAX_COMPILATION_CACHE_DIR: join(environment, "../compiled"),
      JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: "0",
      UV_OFFLINE: "1",
    },
    mark,
    port,
    longestStart: 120_000,
  });
  return { url, database, log, stop };
}
