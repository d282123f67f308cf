import type { AdvantageSettings } from "./advantages.ts";
import type { Aggregation } from "./aggregation.ts";
import type { ImportanceCorrection } from "./importance-correction.ts";
import type { KlEstimator } from "./kl.ts";
import type { ClipSettings, RatioLevel } from "./policy-loss.ts";

/** The settings that distinguish policy-gradient algorithms. docs/algorithms.md has the formulas. */
export interface AlgorithmSettings extends AdvantageSettings, ClipSettings {
  ratio: RatioLevel;
  aggregation: Aggregation;
  /** The divisor of a sequence's sum in the aggregation `constant`. */
  lengthConstant: number;
  /** A new value is clipped to this distance from the old one. */
  valueClip: number;
  valueCoefficient: number;
  /** Whether the KL divergence to the reference is a term of the loss or subtracted from the tokens' rewards. */
  klIn: "loss" | "reward";
  klEstimator: KlEstimator;
  /** 0: no KL term and no reference. With a target, it is the coefficient of the first step. */
  klCoefficient: number;
  /**
   * The target KL divergence in nats per token, which the coefficient adapts to. Default: the coefficient is constant.
   */
  klTarget?: number;
  /** In trajectories. */
  klHorizon: number;
  /** 0: no entropy bonus. */
  entropyCoefficient: number;
  /** Weight of an entropy bonus that is estimated from the sampled tokens alone. Default: none. */
  sampledEntropyCoefficient?: number;
  importanceCorrection: ImportanceCorrection;
  importanceMinimum: number;
  importanceMaximum: number;
  /** The most action tokens of a trajectory, for the soft penalty of long ones. Default: none. */
  overlongMaximum?: number;
  overlongBuffer: number;
  overlongPenalty: number;
  /** Leaves out groups whose rewards are all equal. With credit by turn, groups whose turn rewards are all equal. */
  leaveOutUniformGroups: boolean;
}

/** Whether turn rewards instead of whole trajectories' rewards are compared within a group. */
export function comparesTurns({
  advantages,
  credit,
}: Pick<AlgorithmSettings, "advantages" | "credit">): boolean {
  return advantages === "group-mean" && credit === "turn";
}

/** The names of the presets. */
export const algorithms = [
  "ppo",
  "grpo",
  "dr-grpo",
  "dapo",
  "rloo",
  "reinforce++",
  "reinforce++-baseline",
  "gspo",
] as const;

export type Algorithm = (typeof algorithms)[number];

const ppo: AlgorithmSettings = {
  advantages: "gae",
  normalization: "batch",
  credit: "token",
  discount: "token",
  gamma: 1,
  lambda: 1,
  ratio: "token",
  clipLow: 0.2,
  clipHigh: 0.2,
  aggregation: "token-mean",
  lengthConstant: 1024,
  valueClip: 0.2,
  valueCoefficient: 0.1,
  entropyCoefficient: 0,
  klIn: "loss",
  klEstimator: "k3",
  klCoefficient: 0.001,
  klHorizon: 10_000,
  importanceCorrection: "none",
  importanceMinimum: 0.5,
  importanceMaximum: 2,
  overlongBuffer: 256,
  overlongPenalty: 1,
  leaveOutUniformGroups: false,
};

const grpo: AlgorithmSettings = {
  ...ppo,
  advantages: "group-mean",
  normalization: "group",
  credit: "trajectory",
  aggregation: "sequence-mean",
  klCoefficient: 0.04,
};

/**
 * The algorithms, with the settings of their papers where given: PPO (Schulman et al. 2017, arXiv 1707.06347), GRPO
 * (Shao et al. 2024, arXiv 2402.03300), Dr. GRPO (Liu et al. 2025, arXiv 2503.20783), DAPO (Yu et al. 2025, arXiv
 * 2503.14476), RLOO (Ahmadian et al. 2024, arXiv 2402.14740), REINFORCE++ and its variant with a baseline (Hu et al.
 * 2025, arXiv 2501.03262), GSPO (Zheng et al. 2025, arXiv 2507.18071).
 */
export const algorithmPresets: Readonly<Record<Algorithm, AlgorithmSettings>> = {
  ppo,
  grpo,
  "dr-grpo": { ...grpo, normalization: "none", aggregation: "constant", klCoefficient: 0 },
  dapo: { ...grpo, clipHigh: 0.28, aggregation: "token-mean", klCoefficient: 0, leaveOutUniformGroups: true },
  rloo: {
    ...grpo,
    advantages: "leave-one-out",
    normalization: "none",
    ratio: "trajectory",
    klIn: "reward",
    klEstimator: "k1",
    klCoefficient: 0.05,
  },
  "reinforce++": {
    ...ppo,
    advantages: "return",
    klIn: "reward",
    klEstimator: "k1",
    klCoefficient: 0.01,
  },
  "reinforce++-baseline": { ...grpo, normalization: "batch", aggregation: "token-mean", klEstimator: "k2" },
  gspo: { ...grpo, ratio: "sequence", clipLow: 3e-4, clipHigh: 4e-4, klCoefficient: 0 },
};
