import type { Plan } from "../../contracts/plan.ts";
import { lengthOfRow } from "../store/row.ts";
import type { Store } from "../store/store.ts";
import { treeRecordKey } from "../store/tree-paths.ts";
import { policyPart, versionKey } from "./version-parts.ts";

/** The newest version of a run, searching from `known`, which exists; undefined if there is none. */
export async function newestVersion(
  { plan, store }: { plan: Pick<Plan, "warmStart">; store: Pick<Store, "has"> },
  known?: number,
): Promise<number | undefined> {
  const row = (number: number) => treeRecordKey(versionKey(plan, number - 1)); // a row counts from 1, versions from 0
  const count = await lengthOfRow(store, row, known === undefined ? 0 : known + 1);
  return count === 0 ? undefined : count - 1;
}

/** Whether a version was made and its policy has not been freed. */
export async function hasVersion(
  { plan, store }: { plan: Pick<Plan, "warmStart">; store: Pick<Store, "treeRecord" | "isFreed"> },
  version: number,
): Promise<boolean> {
  if (!Number.isInteger(version) || version < 0) return false;
  const { key, part } = policyPart(plan, version);
  return (await store.treeRecord(key)) !== undefined && !(await store.isFreed(key, part));
}
