import type { Plan } from "../../../contracts/plan.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";

/**
 * Sets a plan's action format: the pipeline's (named, or an expression), else that of its policy's chat
 * template, else hermes.
 */
export function withFormat(plan: Plan, framing: PolicyFraming | undefined): Plan {
  const { rollout } = plan;
  if (rollout.expression !== undefined) return plan;
  return { ...plan, rollout: { ...rollout, format: rollout.format ?? framing?.format ?? "hermes" } };
}
