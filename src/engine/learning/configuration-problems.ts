import type { ConfigurationProblem } from "../../contracts/configuration-problem.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { TrainerSurroundings } from "../../contracts/trainer.ts";
import { algorithmProblems } from "./algorithm-problems.ts";
import type { TrainingSettings } from "./training-settings.ts";

/**
 * Returns the conflicts among a trainer's settings and between them and the rest of the pipeline. `given` is the
 * configuration as written, with the keys of `trainer-onnx`; `settings` are those that follow from it.
 */
export function configurationProblems(
  given: JsonObject,
  settings: TrainingSettings & { algorithm: string },
  surroundings: TrainerSurroundings,
): ConfigurationProblem[] {
  const { algorithm, decay, importanceCorrection } = settings;
  const problems = algorithmProblems(settings, surroundings.groupSize).map(
    (problem): ConfigurationProblem => {
      const { key, reason, help } = problem;
      if (given[key] !== undefined) return problem;
      return { key: "algorithm", reason: `is ${algorithm}, whose ${key} ${reason}`, help };
    },
  );
  const needed = correctionReason(surroundings);
  if (needed !== undefined && importanceCorrection === "none") {
    const help = "Remove it: it is then token-truncate. Or set it to that or to sequence-truncate.";
    problems.push({ key: "importanceCorrection", reason: `is none, but ${needed}`, help });
  }
  if (decay !== "none" && given.decaySteps === undefined) {
    const help = "Add decaySteps, usually the pipeline's steps.";
    problems.push({ key: "decay", reason: `is ${decay}, but there is no decaySteps`, help });
  }
  return problems;
}

/**
 * Why sampled actions need an importance correction. Undefined if the sampler draws from the trained policy.
 */
export function correctionReason({ staleness, policy }: TrainerSurroundings): string | undefined {
  const [restriction] = policy.restrictions;
  if (staleness > 0) {
    return `rollout.staleness is ${staleness}: what older versions sampled would count as the newest one's`;
  }
  if (restriction === undefined) return undefined;
  return `policy.config.${restriction}: actions are drawn from another distribution than the one that is trained`;
}
