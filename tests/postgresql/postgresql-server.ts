import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, chownSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { freePort } from "../../src/control/temporal/free-port.ts";
import { endChild } from "../support/end-child.ts";

/** A PostgreSQL server (Debian's package postgresql) on loopback with a new database. Everyone is let in. */
export interface PostgresqlServer {
  /** Its files. Its user can write there. */
  folder: string;
  port: number;
  urlOf(role: string, database?: string): string;
  /** Kills it as a crash would, and starts it again. */
  crash(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

/** Starts a server with `settings`. As root, it runs as another user. Throws if the package is not installed. */
export async function startPostgresql(settings: readonly string[]): Promise<PostgresqlServer> {
  const bin = globSync("/usr/lib/postgresql/*/bin").sort().at(-1);
  if (bin === undefined) throw new Error("There is no PostgreSQL server here: `apt-get install postgresql`.");
  const user = process.getuid?.() === 0 ? 65_534 : undefined; // it doesn't run as root
  const folder = mkdtempSync(join(tmpdir(), "everturn-postgresql-"));
  chmodSync(folder, 0o755);
  if (user !== undefined) chownSync(folder, user, user);
  const asUser = user === undefined ? { cwd: folder } : { cwd: folder, uid: user, gid: user };
  const data = join(folder, "data");
  const creation = ["-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"];
  execFileSync(join(bin, "initdb"), creation, { ...asUser, stdio: "ignore" });
  const port = await freePort(0);
  const all = ["listen_addresses=127.0.0.1", "unix_socket_directories=", ...settings];
  const parameters = ["-D", data, "-p", String(port), ...all.flatMap((one) => ["-c", one])];
  const urlOf = (role: string, database = "postgres") => `postgresql://${role}@127.0.0.1:${port}/${database}`;

  async function start(): Promise<ChildProcess> {
    const child = spawn(join(bin!, "postgres"), parameters, {
      ...asUser,
      stdio: ["ignore", "ignore", "inherit"],
    });
    while (!(await answers(urlOf("postgres")))) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with exit code ${child.exitCode}`);
      await sleep(200);
    }
    return child;
  }

  let server = await start();
  return {
    folder,
    port,
    urlOf,
    crash: async () => {
      await endChild(server, "SIGQUIT"); // it and its processes end immediately, and recover at the start
      server = await start();
    },
    stop: async () => {
      await endChild(server, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false; // not up yet; the caller looks whether it has ended
  }
}
