import { join } from "node:path";
import type { Finding } from "../contracts/ledger.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { prefixOf } from "../store/key.ts";
import { initialKey } from "../store/keys.ts";
import { treeFileOf } from "../store/tree-paths.ts";

/** What can't be read of a run's steps and versions, and was not replaced. Reads all of their files. */
export async function checkFiles({ store, folder }: Pick<OpenRun, "store" | "folder">): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const prefix of [prefixOf("steps"), prefixOf("warm-start"), { prefix: initialKey.tree }]) {
    for (const { path, reason, isReplaced } of await store.corrupt(prefix)) {
      if (isReplaced) continue;
      const check = treeFileOf(path) === undefined ? "record" : "version";
      findings.push({ check, subject: join(folder.root, path), problem: reason });
    }
  }
  return findings;
}
