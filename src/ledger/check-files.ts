import { join } from "node:path";
import type { Finding } from "../contracts/ledger.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { type Prefix, prefixOf } from "../store/key.ts";
import { initialKey, runFileKey } from "../store/keys.ts";
import { treeFileOf } from "../store/tree-paths.ts";

/** Where a run keeps what it keeps, but for its trajectories. */
const places: Prefix[] = [
  ...["plan", "warm-start", "steps", "ledger", "evaluations", "forks", "bytes"].map((name) => prefixOf(name)),
  ...[runFileKey.path, initialKey.tree].map((prefix) => ({ prefix })),
];

/**
 * All that can't be read of a run, of `stage` alone what concerns its trajectories: findings, and files that took no harm, since
 * what was in them was made again. Reads everything.
 */
export async function checkFiles(
  { store, folder }: Pick<OpenRun, "store" | "folder">,
  stage?: string,
): Promise<{ findings: Finding[]; replaced: string[] }> {
  const findings: Finding[] = [];
  const replaced: string[] = [];
  const trajectories = prefixOf("trajectories", ...(stage === undefined ? [] : [stage]));
  for (const prefix of [...places, trajectories]) {
    for (const { path, reason, isReplaced } of await store.corrupt(prefix)) {
      const subject = join(folder.root, path);
      if (isReplaced) replaced.push(`${subject}: ${reason}`);
      else {
        const check = treeFileOf(path) === undefined ? "record" : "version";
        findings.push({ check, subject, problem: reason });
      }
    }
  }
  return { findings, replaced };
}
