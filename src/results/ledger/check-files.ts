import { join } from "node:path";
import type { Finding } from "../../contracts/ledger.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type Prefix, prefixOf } from "../../run/store/key.ts";
import { initialKey, runFileKey } from "../../run/store/keys.ts";
import type { Corrupt } from "../../run/store/store.ts";
import { treeFileOf } from "../../run/store/tree-paths.ts";

/**
 * Unreadable files: the damage that they cause, and files that cause none, because their content was created again,
 * is also in a step's intact file, or is a portion that trainers compute again.
 */
export interface Unreadable {
  findings: Finding[];
  replaced: string[];
}

/** A portion of a step. A late trainer may write the record of one whose files were removed with the others. */
const portion = /^steps\/\d+\/portions\//;

/** The places of a run's records, except its trajectories. */
const places: Prefix[] = [
  ...[
    "plan",
    "encryption",
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
 * Finds all unreadable objects of a run, except single records of its trajectories. Reads everything. `unfolded`:
 * the steps whose files of trajectories are broken.
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

/** Describes unreadable objects. */
export function unreadable({ folder }: Pick<OpenRun, "folder">, corrupt: readonly Corrupt[]): Unreadable {
  const isHarmless = ({ path, isReplaced }: Corrupt) => isReplaced || portion.test(path);
  const [broken, replaced] = [false, true].map((is) => corrupt.filter((one) => isHarmless(one) === is));
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
