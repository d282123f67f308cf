import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../../base/validation/source-document.ts";
import type { Plan } from "../../../contracts/plan.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import { wrongCombination } from "../read/wrong-combination.ts";

/**
 * Checks whether trajectories with tools have the same tokens as the chat template's rendering of the whole
 * conversation. `rollout.templateCheck` decides how differences are reported: `warn` gives notes, `strict` a
 * problem, `off` neither.
 */
export function checkTemplate(
  { tools, rollout }: Plan,
  framing: PolicyFraming | undefined,
  document: SourceDocument,
): { notes: string[]; problems: Problem[] } {
  const differences =
    rollout.templateCheck === "off" || tools.length === 0 ? [] : (framing?.templateDifferences?.() ?? []);
  if (rollout.templateCheck !== "strict" || differences.length === 0)
    return { notes: differences.map((difference) => `chat template: ${difference}`), problems: [] };
  const pointer = "/rollout/templateCheck";
  const reason = `is strict, but turn by turn the chat template writes other tokens than as a whole: ${differences.join("; ")}`;
  const hint =
    "Name another chat template (policy.config.chatTemplate), or set it to warn: what was sampled is trained on as it was.";
  return {
    notes: [],
    problems: [wrongCombination(placeOf(document, pointer, "value"), pointer, reason, hint)],
  };
}
