import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { connect } from "../../plugins/environment-verifiers/env-server.ts";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { isAnswering } from "../../src/control/servers/is-answering.ts";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { failingTasks, type Place } from "./protocol.ts";

const run = promisify(execFile);

/** A published package whose server runs an environment of this folder. */
export interface PublishedServer {
  /** The name of its folder in the user's cache, with its version. */
  name: string;
  /** The environment variable that names a Python for it. */
  pythonVariable: string;
  python: string;
  /** Installs it with uv into a virtual environment. */
  install(uv: string, environment: string): Promise<void>;
  /** The parameters of its Python. */
  parameters(port: number): string[];
  /** Whether it works: it answers at this path, or this function says so. */
  ready: string | ((port: number) => Promise<boolean>);
}

const pip = (uv: string, environment: string, ...packages: string[]) =>
  run(uv, ["pip", "install", "--quiet", "--python", join(environment, "bin", "python"), ...packages], {
    maxBuffer: 2 ** 26,
  });

/** NeMo Gym 0.7.0 declares Python 3.13.14 or later, and works with 3.13.0: so its wheel is unpacked by pip for a newer one. */
export const nemoGym: PublishedServer = {
  name: "nemo-gym-0.7.0",
  pythonVariable: "NEMO_GYM_PYTHON",
  python: "3.13",
  install: async (uv, environment) => {
    const python = join(environment, "bin", "python");
    await pip(uv, environment, "pip");
    await run(python, [
      "-m",
      "pip",
      "install",
      "--quiet",
      "--no-deps",
      "--ignore-requires-python",
      "nemo-gym==0.7.0",
    ]);
    const { stdout } = await run(python, [
      "-c",
      "from importlib.metadata import requires; print('\\n'.join(r for r in requires('nemo-gym') if 'extra ==' not in r))",
    ]);
    await pip(uv, environment, ...stdout.trim().split("\n"));
  },
  parameters: (port) => ["counter_server.py", String(port)],
  ready: "/openapi.json",
};

/** Its harness runs a script by uv, which it looks for on PATH. */
export const verifiers: PublishedServer = {
  name: "verifiers-0.4.0",
  pythonVariable: "VERIFIERS_PYTHON",
  python: "3.11",
  install: async (uv, environment) => {
    await pip(uv, environment, "--compile-bytecode", "verifiers==0.4.0", "uv==0.13.9");
  },
  parameters: (port) => ["verifiers_server.py", String(port)],
  ready: async (port) => {
    const server = connect(`tcp://127.0.0.1:${port}`);
    return server
      .health(2000)
      .then(
        () => true,
        () => false,
      )
      .finally(server.close);
  },
};

/** The Python of a published server, which the first call installs into the user's cache. */
export async function pythonOf({ name, pythonVariable, python, install }: PublishedServer): Promise<string> {
  const folder = await cachedFolder(join(cacheFolder(), "tests", name), async (unpacked) => {
    const [tools, environment] = [join(unpacked, "tools"), join(unpacked, "venv")];
    const quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", tools];
    await run("python3", [...quiet, "uv==0.13.9"]);
    const uv = join(tools, "bin", "uv");
    const wanted = process.env[pythonVariable] ?? python;
    await run(uv, ["venv", "--quiet", "--relocatable", "--python", wanted, environment]);
    await install(uv, environment);
  });
  return join(folder, "venv", "bin", "python");
}

/** A server that a test starts and kills. Its address stays the same. */
export interface ServerByAddress {
  url: string;
  /** The Python in which its package is installed. */
  python: string;
  /** Starts it, and waits until it answers. In a failing one, all tasks but the first can't begin. */
  start(isFailing: boolean): Promise<void>;
  /** SIGKILL for all of its processes. */
  kill(): void;
}

/** Milliseconds in which a server must answer. */
const longestStart = 180_000;

/** Installs a published package if it is not cached, for a server that writes into `log`. */
export async function serverByAddress(
  published: PublishedServer,
  { note }: Place,
  log: string,
): Promise<ServerByAddress> {
  note(`installing ${published.name} if it is not cached`);
  const python = await pythonOf(published);
  const port = await freePort(0);
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;

  const kill = () => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, "SIGKILL");
  };
  process.once("exit", kill);
  const start = async (isFailing: boolean) => {
    const output = openSync(log, "a");
    const started = spawn(python, published.parameters(port), {
      cwd: import.meta.dirname,
      stdio: ["ignore", output, output],
      env: {
        ...process.env,
        PATH: `${dirname(python)}${delimiter}${process.env.PATH}`,
        PYTHONPATH: import.meta.dirname, // servers start others in folders of their own
        PYTHONDONTWRITEBYTECODE: "1",
        FAILING: isFailing ? failingTasks : "",
      },
      detached: true,
    });
    closeSync(output);
    child = started;
    for (const end = Date.now() + longestStart; Date.now() < end; await sleep(200)) {
      if (started.exitCode !== null) break;
      if (await isReady(published.ready, port)) return;
    }
    kill();
    throw new Error(`${published.name} did not start: see ${log}`);
  };
  return { url, python, start, kill };
}

async function isReady(ready: PublishedServer["ready"], port: number): Promise<boolean> {
  if (typeof ready !== "string") return ready(port);
  return isAnswering(port, ready);
}
