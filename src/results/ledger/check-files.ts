import { join } from "node:path";
import type { Finding } from "../../contracts/ledger.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type Prefix, prefixOf } from "../../run/store/key.ts";
import { initialKey, runFileKey } from "../../run/store/keys.ts";
import type { Corrupt } from "../../run/store/store.ts";
import { treeFileOf } from "../../run/store/tree-paths.ts";

/**
 * What can't be read: what that breaks, and files that took no harm, since what was in them was made again, or is in the file of
 * a step, which is whole.
 */
export interface Unreadable {
  findings: Finding[];
  replaced: string[];
}

/** Where a run keeps what it keeps, but for its trajectories. */
const places: Prefix[] = [
  ...[
    "plan",
    "warm-start",
    "steps",
    "ledger",
    "evaluations",
    "evaluation-plans",
    "forks",
    "bytes",
    "reference-scores",
  ].map((name) => prefixOf(name)),
  ...[runFileKey.path, initialKey.tree].map((prefix) => ({ prefix })),
];

/**
 * All that can't be read of a run, but for single records of its trajectories. Reads everything. `unfolded`: the steps whose
 * files of trajectories are broken.
 */
export async function checkFiles(
  run: Pick<OpenRun, "store" | "folder">,
): Promise<Unreadable & { unfolded: ReadonlySet<number> }> {
  const corrupt: Corrupt[] = [];
  for (const prefix of places) {
    for await (const scanned of run.store.scan(prefix)) corrupt.push(...scanned.corrupt);
  }
  const steps = corrupt.flatMap(
    ({ path }) => /^steps\/(\d+)\/folded$/.exec(treeFileOf(path)?.tree ?? "")?.[1] ?? [],
  );
  return { ...unreadable(run, corrupt), unfolded: new Set(steps.map(Number)) };
}

/** Tells what can't be read. */
export function unreadable({ folder }: Pick<OpenRun, "folder">, corrupt: readonly Corrupt[]): Unreadable {
  const [broken, replaced] = [false, true].map((is) => corrupt.filter(({ isReplaced }) => isReplaced === is));
  const subjectOf = ({ path }: Corrupt) => join(folder.root, path);
  return {
    findings: (broken ?? []).map((one) => ({
      check: treeFileOf(one.path) === undefined ? "record" : "version",
      subject: subjectOf(one),
      problem: one.reason,
    })),
    replaced: (replaced ?? []).map((one) => `${subjectOf(one)}: ${one.reason}`),
  };
}
