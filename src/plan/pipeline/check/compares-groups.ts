import type { Plan } from "../../../contracts/plan.ts";
import { algorithmPresets, algorithms } from "../../../engine/learning/algorithm.ts";

/** Whether a plan's steps train on trajectories, as opposed to examples. */
export function trainsOnRollouts({ steps, sft, dpo }: Pick<Plan, "steps" | "sft" | "dpo">): boolean {
  return steps > 0 && sft === undefined && dpo === undefined;
}

/** Whether the trainer compares the trajectories of a task with each other, by its `algorithm` or `advantages`. */
export function comparesGroups({ rollout, trainer }: Pick<Plan, "rollout" | "trainer">): boolean {
  const { algorithm, advantages } = trainer.config;
  const preset = algorithms.find((name) => name === algorithm);
  const used = advantages ?? (preset && algorithmPresets[preset].advantages);
  return rollout.groupSize > 1 && (used === "group-mean" || used === "leave-one-out");
}
