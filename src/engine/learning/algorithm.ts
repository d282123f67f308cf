import type { AdvantageSettings } from "./advantages.ts";
import type { Aggregation } from "./aggregation.ts";
import type { ImportanceCorrection } from "./importance-correction.ts";
import type { KlEstimator } from "./kl.ts";
import type { ClipSettings, RatioLevel } from "./policy-loss.ts";

/** All that distinguishes one policy-gradient algorithm from another. docs/algorithms.md has the formulas. */
export interface AlgorithmSettings extends AdvantageSettings, ClipSettings {
  ratio: RatioLevel;
  aggregation: Aggregation;
  /** What the aggregation `constant` divides a sequence's sum by. */
  lengthConstant: number;
  /** A new value counts no further than this from the old one. */
  valueClip: number;
  valueCoefficient: number;
  /** Whether the KL divergence to the reference is a term of the loss or is taken from the tokens' rewards. */
  klIn: "loss" | "reward";
  klEstimator: KlEstimator;
  /** 0 for none, and no reference; with a target, the coefficient of the first step. */
  klCoefficient: number;
  /** Nats a token that the coefficient is steered towards; default: the coefficient stays. */
  klTarget?: number;
  /** In trajectories. */
  klHorizon: number;
  /** 0 for none. */
  entropyCoefficient: number;
  importanceCorrection: ImportanceCorrection;
  importanceMinimum: number;
  importanceMaximum: number;
  /** The most action tokens of a trajectory, for the soft punishment of long ones; default: none. */
  overlongMaximum?: number;
  overlongBuffer: number;
  overlongPenalty: number;
  /** Leave out the groups whose rewards are all equal; with credit by turn, those of all their turns. */
  leaveOutUniformGroups: boolean;
}

/** Whether what turns earned is compared within a group, not what whole trajectories did. */
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
 * The algorithms, with the numbers of their papers where they give some:
 * PPO (Schulman et al. 2017, arXiv 1707.06347), GRPO (Shao et al. 2024, arXiv 2402.03300), Dr. GRPO (Liu et al. 2025, arXiv
 * 2503.20783), DAPO (Yu et al. 2025, arXiv 2503.14476), RLOO (Ahmadian et al. 2024, arXiv 2402.14740), REINFORCE++ and its
 * variant with a baseline (Hu et al. 2025, arXiv 2501.03262), GSPO (Zheng et al. 2025, arXiv 2507.18071).
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
