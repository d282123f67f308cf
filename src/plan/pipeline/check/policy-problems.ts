import type { Pointer } from "../../../base/validation/pointer.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { placeOf } from "../../../base/validation/source-document.ts";
import { loadPolicy } from "../../../plugin/registry/registry.ts";
import { wrongCombination } from "../read/wrong-combination.ts";
import type { LoadedPlan } from "./loaded-plan.ts";

/**
 * Returns the plan's requirements that its policy can't meet: training, the trainer, the rollout's temperature,
 * counting tokens.
 */
export async function policyProblems({ plan, framing, document }: LoadedPlan): Promise<Problem[]> {
  const { policy, trainer, rollout, tools, steps, warmStart } = plan;
  const traits = (await loadPolicy(policy)).traits?.(structuredClone(policy.config));
  const { untrainable, temperatures, trainers } = traits ?? {};
  const problem = (at: Pointer, reason: string, hint: string): Problem => {
    const place = placeOf(document, at, "value");
    return wrongCombination(place, at, reason, hint);
  };
  if (framing !== undefined && framing.cutText === undefined) {
    const limited = [
      ...(rollout.observations.tokens === undefined ? [] : ["/rollout/observations/tokens"]),
      ...tools.flatMap(({ observations }, at) =>
        observations?.tokens === undefined ? [] : [`/tools/${at}/observations/tokens`],
      ),
    ];
    const reason = `is set, but the tokens of ${policy.name} are unknown`;
    if (limited.length > 0) return limited.map((at) => problem(at, reason, "Say characters in its place."));
  }
  if (untrainable !== undefined) {
    const reason = (what: string) => `${what}, but ${policy.name} can't be trained: ${untrainable}`;
    const hint =
      "Set steps to 0 and leave out warmStart to evaluate it, or name a policy that can be trained.";
    if (steps > 0) return [problem("/steps", reason(`is ${steps}`), hint)];
    if (warmStart !== undefined) return [problem("/warmStart", reason("is there"), hint)];
  } else if (trainers?.includes(trainer.name) === false && (steps > 0 || warmStart !== undefined)) {
    const [first] = trainers;
    const reason = `is ${trainer.name}, but ${policy.name} samples only what ${trainers.join(" or ")} trains`;
    return [problem("/trainer", reason, `Use ${first}, or another policy.`)];
  } else if (temperatures !== undefined && !temperatures.includes(rollout.temperature)) {
    const reason = `is ${rollout.temperature}, but ${policy.name} draws actions at ${temperatures.join(" or ")} alone`;
    return [problem("/rollout/temperature", reason, `Set it to ${temperatures.at(-1)}.`)];
  }
  return [];
}
