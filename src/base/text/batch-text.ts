import type { Plan } from "../../contracts/plan.ts";
import { counted } from "./format.ts";

/** Describes the data that a step of a plan trains on. */
export function batchText({ sft, dpo, rollout }: Pick<Plan, "sft" | "dpo" | "rollout">): string {
  const examples = dpo ?? sft;
  if (examples === undefined) return `${rollout.batchSize} trajectories`;
  const size = counted(examples.batchSize, dpo === undefined ? "demonstration" : "pair");
  return `${counted(examples.updates, "update")} on ${size}`;
}
