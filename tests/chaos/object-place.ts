import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Behaviour } from "../support/object-server.ts";
import { objectsUrl } from "../support/open-objects.ts";

const main = join(import.meta.dirname, "..", "support", "object-server.ts");

/** An object store that runs are made in; it is never struck, but fails by itself often enough. */
export interface ObjectPlace {
  /** A file for each object, by run. */
  root: string;
  /** What the command line is told when it makes a run. */
  env: Record<string, string>;
  stop(): void;
}

/** Starts one, which keeps its files in `root`. */
export async function startObjectPlace(root: string, seed: number): Promise<ObjectPlace> {
  const behaviour: Behaviour = { seed, latency: 5, failures: 0.1, lag: 500, data: root };
  const server = spawn(process.execPath, [main, JSON.stringify(behaviour)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = await once(server.stdout.setEncoding("utf8"), "data");
  const env = { EVERTURN_STORE: objectsUrl(Number(port)) };
  return { root, env, stop: () => void server.kill("SIGKILL") };
}

/** Shows the objects of runs in their folders, as links, to who reads runs there: times are those of the objects. */
export function showObjects(root: string, runs: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const object = join(entry.parentPath, entry.name);
    const shown = join(runs, relative(root, object));
    if (basename(object) === "run.json") continue; // the store's copy
    if (existsSync(shown)) throw new Error(`${shown} is in the run's folder, and in its store`);
    mkdirSync(dirname(shown), { recursive: true });
    symlinkSync(object, shown);
  }
}
