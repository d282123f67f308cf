import type { Plan } from "../../contracts/plan.ts";
import type { TreeKey } from "../store/key.ts";
import { initialKey, trainedStepKey, warmStartKey } from "../store/keys.ts";
import type { TreePart } from "../store/tree-part.ts";
import { firstVersion } from "./first-version.ts";

/** The tree that contains a version once it is made: version 0's, the end of the warm start's, or a step's. */
export function versionKey(plan: Pick<Plan, "warmStart">, version: number): TreeKey<unknown> {
  if (version === 0) return initialKey;
  if (version === 1 && plan.warmStart !== undefined) return warmStartKey(plan.warmStart.steps);
  return trainedStepKey(version - firstVersion(plan));
}

/** The files that a version generates with, in Hugging Face's formats. */
export function policyPart(plan: Pick<Plan, "warmStart">, version: number): TreePart {
  return { key: versionKey(plan, version), part: "policy" };
}

/** The trainer's state of a version. Version 0 has none. */
export function trainerPart(plan: Pick<Plan, "warmStart">, version: number): TreePart {
  return { key: versionKey(plan, version), part: "trainer" };
}
