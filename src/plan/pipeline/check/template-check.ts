import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf } from "../../../base/validation/source-document.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { wrongCombination } from "../read/wrong-combination.ts";
import type { LoadedPlan } from "./loaded-plan.ts";

/**
 * Returns a problem if `rollout.templateCheck` is `strict` and trajectories with tools have other tokens than the
 * chat template's rendering of the whole conversation.
 */
export function templateProblems(loaded: LoadedPlan): Problem[] {
  const differences = differencesFor("strict", loaded);
  if (differences.length === 0) return [];
  const pointer = "/rollout/templateCheck";
  const reason = `is strict, but turn by turn the chat template writes other tokens than as a whole: ${differences.join("; ")}`;
  const hint =
    "Name another chat template (policy.config.chatTemplate), or set it to warn: what was sampled is trained on as it was.";
  return [wrongCombination(placeOf(loaded.document, pointer, "value"), pointer, reason, hint)];
}

/** Returns the same differences as notes if `rollout.templateCheck` is `warn`. */
export function templateNotes(loaded: LoadedPlan): string[] {
  return differencesFor("warn", loaded).map((difference) => `chat template: ${difference}`);
}

function differencesFor(
  check: Plan["rollout"]["templateCheck"],
  { plan: { tools, rollout }, framing }: LoadedPlan,
): readonly string[] {
  if (rollout.templateCheck !== check || tools.length === 0) return [];
  return framing?.templateDifferences?.() ?? [];
}
