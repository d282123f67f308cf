import type { Finding } from "../../contracts/ledger.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { evaluatedVersion, stepOf } from "../../contracts/stages.ts";
import { foldedKey, freedRecordsKey } from "../../run/store/keys.ts";
import type { Store } from "../../run/store/store.ts";
import { treeRecordKey } from "../../run/store/tree-paths.ts";

/**
 * Missing records that a stage must have: the file of a step whose single records were removed, and an evaluation
 * that the run made itself before a step that it recorded. `newest` is the newest recorded policy version.
 */
export async function lostRecords(
  store: Pick<Store, "has">,
  stage: string,
  { evaluation, newest }: { evaluation: EvaluationRecord | undefined; newest: number },
): Promise<Finding[]> {
  const step = stepOf(stage);
  if (step !== undefined) {
    if (!(await store.has(freedRecordsKey(step))) || (await store.has(treeRecordKey(foldedKey(step)))))
      return [];
    return [
      lost(`steps/${step}/folded.json`, "it is missing, and the single records of its step were removed"),
    ];
  }
  const version = evaluatedVersion(stage);
  if (version === undefined || version >= newest || evaluation !== undefined) return [];
  return [lost(`evaluations/${stage}.json`, "it is missing, but a later step is recorded")];
}

function lost(subject: string, problem: string): Finding {
  return { check: "record", subject, problem: `${problem}; restore it from a backup` };
}
