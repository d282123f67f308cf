import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { displayPath } from "../../../base/validation/place.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { digestOf } from "../../../plugin/define/digest.ts";

/** The file that the steps of a plan train on. Undefined if they train on trajectories. */
export function exampleFile({ sft, dpo }: Pick<Plan, "sft" | "dpo">): string | undefined {
  return dpo?.preferences ?? sft?.demonstrations;
}

/** Adds the digests of a plan's demonstrations and pairs files to the plan. */
export function withExampleDigests(plan: Plan): Plan {
  const files = [plan.warmStart?.demonstrations, exampleFile(plan)];
  const digests = files.flatMap((file) => (file === undefined ? [] : [[file, digestOf(file)] as const]));
  return digests.length === 0 ? plan : { ...plan, exampleDigests: Object.fromEntries(digests) };
}

/**
 * Throws EXAMPLES_CHANGED if `file` is one of a plan's example files and has changed since the plan was made.
 */
export function checkExampleFile({ exampleDigests = {} }: Plan, file = ""): void {
  const digest = exampleDigests[file];
  if (digest === undefined || digestOf(file) === digest) return;
  throw new EverturnError("EXAMPLES_CHANGED", { file: displayPath(file) });
}
