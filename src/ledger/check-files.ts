import { join } from "node:path";
import type { Finding } from "../contracts/ledger.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { type Prefix, prefixOf } from "../store/key.ts";
import { initialKey, runFileKey } from "../store/keys.ts";
import { treeFileOf } from "../store/tree-paths.ts";
import { foldedPrefix } from "../trajectory/folded/folded-path.ts";
import type { TrajectoryReader } from "../trajectory/reader.ts";

/** Where a run keeps what it keeps, but for its trajectories. */
const places: Prefix[] = [
  ...["plan", "warm-start", "steps", "ledger", "evaluations", "forks", "bytes"].map((name) => prefixOf(name)),
  ...[runFileKey.path, initialKey.tree].map((prefix) => ({ prefix })),
];

/**
 * All that can't be read of a run, of `stage` alone what concerns its trajectories: findings, and files that took no harm, since
 * what was in them was made again, or is in the file of a step, which is whole. Reads everything.
 */
export async function checkFiles(
  { store, folder }: Pick<OpenRun, "store" | "folder">,
  reader: Pick<TrajectoryReader, "foldedIn">,
  stage?: string,
): Promise<{ findings: Finding[]; replaced: string[] }> {
  const findings: Finding[] = [];
  const replaced: string[] = [];
  /** Steps whose files of trajectories are broken. */
  const unfolded = new Set<number>();

  /** Whether a record is one of a trajectory that is read from the file of its step. */
  async function isInFile(path: string): Promise<boolean> {
    const prefix = foldedPrefix(path);
    const step = prefix === undefined ? undefined : await reader.foldedIn(prefix);
    return step !== undefined && !unfolded.has(step);
  }

  const trajectories = prefixOf("trajectories", ...(stage === undefined ? [] : [stage]));
  for (const prefix of [...places, trajectories]) {
    for (const { path, reason, isReplaced } of await store.corrupt(prefix)) {
      const subject = join(folder.root, path);
      if (isReplaced) replaced.push(`${subject}: ${reason}`);
      else if (await isInFile(path)) replaced.push(`${subject}: ${reason}; its step's file has it`);
      else {
        const tree = treeFileOf(path)?.tree;
        const [, step] = /^steps\/(\d+)\/folded$/.exec(tree ?? "") ?? [];
        if (step !== undefined) unfolded.add(Number(step));
        findings.push({ check: tree === undefined ? "record" : "version", subject, problem: reason });
      }
    }
  }
  return { findings, replaced };
}
