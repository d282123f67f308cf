import type { Pointer } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf } from "../../../base/validation/source-document.ts";
import { expressionProblem } from "../../../chat/formats/expression.ts";
import { loadPolicy } from "../../../plugin/registry/registry.ts";
import { wrongCombination } from "../read/wrong-combination.ts";
import type { LoadedPlan } from "./loaded-plan.ts";

const pointer = "/rollout/format";

/**
 * Returns conflicts with a plan's action format: the policy constrains calls to another format, or its chat
 * template writes demonstrated calls in another format.
 */
export async function formatProblems({ plan, data, framing, document }: LoadedPlan): Promise<Problem[]> {
  const { policy, rollout } = plan;
  const { format, expression } = rollout;
  const problem = (reason: string, hint: string, at: Pointer = pointer): Problem => {
    const place = placeOf(document, at, "value");
    return wrongCombination(place, at, reason, hint);
  };
  const problems: Problem[] = [];
  if (expression !== undefined) {
    const wrong = expressionProblem(expression);
    if (wrong !== undefined)
      problems.push(problem(wrong.reason, wrong.hint, `/rollout/expression/${wrong.key}`));
    if (format !== undefined)
      problems.push(problem("is set, but rollout.expression is set too", "Remove one of the two."));
  }
  const plugin = await loadPolicy(policy);
  const constrained = plugin.traits?.(structuredClone(policy.config)).constrainedFormat;
  if (constrained !== undefined && constrained !== format) {
    const reason = `is ${format ?? "an expression"}, but the policy can constrain calls only in ${constrained}`;
    problems.push(problem(reason, "Let the policy's calls be free (policy-onnx: sampling.toolCalls)."));
  }
  const written = framing?.format;
  const demonstrations = [...(data.demonstrations ?? []), ...(data.examples?.learned ?? [])];
  const isDemonstrated = demonstrations.some(({ messages }) =>
    messages.some(({ tool_calls: calls = [] }) => calls.length > 0),
  );
  if (isDemonstrated && expression === undefined && written !== undefined && written !== format) {
    const reason = `is ${format}, but the policy's chat template writes the demonstrated calls as ${written}`;
    problems.push(problem(reason, "Remove it, or write the calls as text in the demonstrations' contents."));
  }
  return problems;
}
