import { defined } from "../../base/records/defined.ts";
import type { FloatValue } from "../onnx/graph.ts";
import type { AlgorithmSettings } from "./algorithm.ts";
import type { LossTensors } from "./loss-function.ts";
import { isClippedAlone, type PolicyObjectiveSettings } from "./policy-objective.ts";
import type { RewardSettings } from "./reward-normalization.ts";
import type { LearningRateSchedule } from "./schedule.ts";
import type { UpdateSettings } from "./update.ts";

/** All settings of a trainer's policy-gradient steps. The schedule counts those steps. */
export interface TrainingSettings
  extends AlgorithmSettings,
    RewardSettings,
    UpdateSettings,
    LearningRateSchedule {
  /** Passes over a step's trajectories. */
  epochs: number;
  /** Trajectories per update. The last minibatch of an epoch may be smaller. */
  minibatchSize: number;
  /** The source of values: a head on the policy, or a separate model. Default: head. */
  critic?: "head" | "model";
  /** The number of policy-gradient steps, from the first one, in which only the value head learns. Default: 0. */
  valueWarmupSteps?: number;
  /** Nats per token. The first update whose `approximateKl` exceeds it ends its step. Default: no limit. */
  klStop?: number;
  /** Whether trajectories that a limit cut contribute only to their group's baseline. Default: false. */
  maskTruncated?: boolean;
  /** Replaces the clipped ratio. */
  loss?: (tokens: LossTensors) => FloatValue;
}

/** Returns the parts of these settings' objective. */
export function objectiveSettings(settings: TrainingSettings): PolicyObjectiveSettings {
  const { valueCoefficient, valueClip, klIn, klCoefficient, klEstimator } = settings;
  const hasHead = settings.advantages === "gae" && !hasCritic(settings);
  return defined({
    ...settings,
    value: hasHead ? { coefficient: valueCoefficient, clip: valueClip } : undefined,
    kl: klIn === "loss" && klCoefficient > 0 ? klEstimator : undefined,
  });
}

/**
 * Returns the same for steps of one update that don't have to score their trajectories first, because only the
 * importance correction needs scores. Otherwise undefined.
 */
export function onPolicySettings(settings: TrainingSettings): PolicyObjectiveSettings | undefined {
  const { importanceCorrection: correction, importanceMinimum, importanceMaximum } = settings;
  const objective = objectiveSettings(settings);
  const isScored =
    objective.value !== undefined || (settings.klIn === "reward" && settings.klCoefficient > 0);
  if (correction === "none" || isScored) return undefined;
  const range = { minimum: importanceMinimum, maximum: importanceMaximum };
  return { ...objective, onPolicy: { correction, range } };
}

/** Whether the loss of the policy is the clipped ratio of each token alone, which a server may have as its own. */
export function usesClippedLoss(settings: TrainingSettings): boolean {
  return isClippedAlone(objectiveSettings(settings));
}

/** Whether values come from a separate model. */
export function hasCritic({ advantages, critic }: TrainingSettings): boolean {
  return advantages === "gae" && critic === "model";
}
