import { counted } from "../../../base/text/format.ts";
import type { Pointer } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf } from "../../../base/validation/source-document.ts";
import { wrongCombination } from "../read/wrong-combination.ts";
import { comparesGroups, trainsOnRollouts } from "./compares-groups.ts";
import type { LoadedPlan } from "./loaded-plan.ts";

/** Returns settings with which no step of a run could change the policy. */
export function learningProblems({ plan, document }: LoadedPlan): Problem[] {
  if (!trainsOnRollouts(plan)) return [];
  const { steps, rollout, trainer } = plan;
  const { valueWarmupSteps } = trainer.config;
  const problem = (at: Pointer, reason: string, hint: string) =>
    wrongCombination(placeOf(document, at, "value"), at, reason, hint);
  const problems: Problem[] = [];
  if (rollout.temperature === 0 && comparesGroups(plan)) {
    const reason =
      "is 0, so all trajectories of a group are the same, and comparing them teaches the policy nothing";
    problems.push(problem("/rollout/temperature", reason, "Set it to 1, or to 0.7 or more."));
  }
  if (typeof valueWarmupSteps === "number" && valueWarmupSteps >= steps) {
    const reason = `is ${valueWarmupSteps}, but the run has ${counted(steps, "step")}: only values are learned in all of them, and the policy never changes`;
    const hint = "Lower it to a tenth of the steps or so, or raise steps.";
    problems.push(problem("/trainer/config/valueWarmupSteps", reason, hint));
  }
  return problems;
}
