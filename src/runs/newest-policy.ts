import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { RunFolder } from "./run-folder.ts";

/** The newest policy version in a run's folder; undefined if there is none yet. */
export async function newestPolicy(folder: RunFolder): Promise<number | undefined> {
  const names = await readdir(dirname(folder.policy(0))).catch(() => []);
  const versions = names.flatMap((name) => /^v(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  return versions.length === 0 ? undefined : Math.max(...versions);
}
