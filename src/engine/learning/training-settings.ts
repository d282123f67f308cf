import { defined } from "../../base/records/defined.ts";
import type { FloatValue } from "../onnx/graph.ts";
import type { AlgorithmSettings } from "./algorithm.ts";
import type { LossTensors } from "./loss-function.ts";
import type { PolicyObjectiveSettings } from "./policy-objective.ts";
import type { RewardSettings } from "./reward-normalization.ts";
import type { LearningRateSchedule } from "./schedule.ts";
import type { UpdateSettings } from "./update.ts";

/** All numbers of a trainer's policy-gradient steps. The schedule counts those steps. */
export interface TrainingSettings
  extends AlgorithmSettings,
    RewardSettings,
    UpdateSettings,
    LearningRateSchedule {
  /** Passes over a step's trajectories. */
  epochs: number;
  /** Trajectories of one update; the last minibatch of an epoch may be smaller. */
  minibatchSize: number;
  /** Where values come from: a head on the policy, or a model of their own; default head. */
  critic?: "head" | "model";
  /** Policy-gradient steps, from the first one, in which the value head alone learns; default 0. */
  valueWarmupSteps?: number;
  /** Nats a token: the first update whose `approximateKl` is above it is the last of its step; default: none is. */
  klStop?: number;
  /** Whether trajectories that a limit cut have a part in their group's baseline, and in nothing else; default false. */
  maskTruncated?: boolean;
  /** Takes the place of the clipped ratio. */
  loss?: (tokens: LossTensors) => FloatValue;
}

/** What the objective of these settings is made of. */
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
 * The same for steps of one update, which then need not score their trajectories before: where nothing but the importance correction
 * wants that. Else undefined.
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

/** Whether values come from a model of their own. */
export function hasCritic({ advantages, critic }: TrainingSettings): boolean {
  return advantages === "gae" && critic === "model";
}
