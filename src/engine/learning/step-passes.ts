import { neededScores } from "./policy-gradient-step.ts";
import { policyObjective } from "./policy-objective.ts";
import { objectiveSettings, onPolicySettings, type TrainingSettings } from "./training-settings.ts";

/** How a policy-gradient step goes through its trajectories, if it leaves none out and no early stop ends it. */
export interface StepPasses {
  /** Whether the policy scores all of them before the first update. */
  policyScores: boolean;
  /** Whether the reference does. */
  referenceScores: boolean;
  /** Whether the loss is only the clipped ratio of each token, which some models compute themselves in one pass. */
  isClipped: boolean;
  /** The number of trajectories in each update. */
  updates: number[];
}

/** Returns the passes of a step on a number of trajectories. */
export function stepPasses(settings: TrainingSettings, trajectories: number): StepPasses {
  const { epochs, minibatchSize } = settings;
  const isOneUpdate = epochs === 1 && trajectories <= minibatchSize;
  const onPolicy = isOneUpdate ? onPolicySettings(settings) : undefined;
  const objective = policyObjective(onPolicy ?? objectiveSettings(settings));
  const scores = neededScores(objective, settings);
  const updates: number[] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let start = 0; start < trajectories; start += minibatchSize)
      updates.push(Math.min(minibatchSize, trajectories - start));
  }
  return {
    policyScores: scores.policy,
    referenceScores: scores.reference,
    isClipped: objective.clipped !== undefined,
    updates,
  };
}
