import type { Plan } from "../../contracts/plan.ts";

/** What a run's steps do, in words. */
export function trainingName({ sft, dpo }: Pick<Plan, "sft" | "dpo">): string {
  if (dpo !== undefined) return "preference optimization";
  return sft === undefined ? "reinforcement learning" : "supervised fine-tuning";
}
