import type { Plan } from "../../contracts/plan.ts";

/** The name of a run's training method. */
export function trainingName({ sft, dpo }: Pick<Plan, "sft" | "dpo">): string {
  if (dpo !== undefined) return "preference optimization";
  return sft === undefined ? "reinforcement learning" : "supervised fine-tuning";
}
