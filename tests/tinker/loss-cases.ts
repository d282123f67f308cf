import { join } from "node:path";
import { createUniformStream } from "../../src/base/random/uniform-stream.ts";
import type { JsonObject } from "../../src/contracts/json.ts";
import type { MaskedTokens } from "../../src/contracts/policy.ts";
import type { Trainer, TrainingPair, TrainingTrajectory } from "../../src/contracts/trainer.ts";
import type { Family } from "./served-model.ts";

/** The loss of a step, and its other terms. */
export type Losses = Partial<Record<"loss" | "policyLoss" | "valueLoss" | "kl", number>>;

/** One loss whose results are compared. */
export interface LossCase {
  name: string;
  /** Settings of the trainer. */
  config: JsonObject;
  /** Folder of the loss plugin, if it has one. */
  loss?: string;
  /** Of the trained model. Default: llama. */
  family?: Family;
  /** Whether a critic of its own estimates values: on both sides one that starts from the policy's model. */
  hasCritic?: true;
  /** Makes one update. */
  step(trainer: Trainer, batch: Batch): Promise<Losses>;
}

/** What the cases train on. */
export interface Batch {
  trajectories: TrainingTrajectory[];
  pairs: TrainingPair[];
}

const trained = (trainer: Trainer, { trajectories }: Batch) =>
  trainer.policyGradientStep(trajectories, { temperature: 1 });

const policyGradient = (name: string, config: JsonObject): LossCase => ({ name, config, step: trained });

const supervised: LossCase = {
  name: "sft",
  config: {},
  step: (trainer, { trajectories }) => trainer.supervisedStep(trajectories, { learningRate: 1e-4, steps: 1 }),
};

function preferences(name: string, loss: "sigmoid" | "ipo", labelSmoothing: number): LossCase {
  const settings = { learningRate: 1e-4, steps: 1, beta: 0.1, loss, labelSmoothing };
  return {
    name,
    config: {},
    step: async (trainer, { pairs }) => (await trainer.preferenceStep?.(pairs, settings)) ?? {},
  };
}

const softGate: LossCase = {
  name: "plugin loss",
  config: { algorithm: "dr-grpo" },
  loss: join(import.meta.dirname, "../plugins/loss-soft-gate"),
  step: trained,
};

const kl = { klCoefficient: 0.2 };
const corrections = ["token-truncate", "token-mask", "sequence-truncate", "sequence-mask"];

/** Every algorithm of docs/algorithms.md, the variants of its terms, supervised learning, preferences, and a plugin's loss. */
export const lossCases: readonly LossCase[] = [
  ...["grpo", "dr-grpo", "dapo", "rloo", "reinforce++", "reinforce++-baseline", "gspo"].map((algorithm) =>
    policyGradient(algorithm, { algorithm }),
  ),
  { ...policyGradient("ppo", { algorithm: "ppo" }), hasCritic: true },
  ...["k1", "k2", "k3"].flatMap((klEstimator) => [
    policyGradient(`KL ${klEstimator} in the loss`, { algorithm: "grpo", klIn: "loss", klEstimator, ...kl }),
    policyGradient(`KL ${klEstimator} in the reward`, { algorithm: "reinforce++", klEstimator, ...kl }),
  ]),
  ...corrections.map((importanceCorrection) =>
    policyGradient(`correction ${importanceCorrection}`, { algorithm: "grpo", importanceCorrection }),
  ),
  policyGradient("dual clip", { algorithm: "grpo", dualClip: 1.1 }),
  policyGradient("masked truncation", { algorithm: "grpo", maskTruncated: true }),
  softGate,
  supervised,
  preferences("dpo", "sigmoid", 0),
  preferences("dpo with label smoothing", "sigmoid", 0.2),
  preferences("ipo", "ipo", 0),
  { ...policyGradient("grpo on Qwen3", { algorithm: "grpo" }), family: "qwen3" },
];

/** How many trajectories a batch has. */
export const batchSize = 8;

/** Sequences of random tokens of a vocabulary. Actions, marked by 1, alternate with other tokens. */
export function randomSequences(vocabulary: number, count: number, stream: string): MaskedTokens[] {
  const uniform = uniformOf(stream);
  return Array.from({ length: count }, (_, index) => {
    const shape = [3, 4 + (index % 3), 2, 2 + (index % 4), index % 2];
    const mask = shape.flatMap((length, part) => Array<number>(length).fill(part % 2));
    return { mask, tokens: mask.map(() => Math.floor(uniform() * vocabulary)) };
  });
}

/**
 * A batch on random tokens. `scores` are the log-probabilities of each sequence's action tokens under the policy. The recorded ones
 * differ from them by up to 0.4, so that some ratios are clipped, and those of sampling by up to 1 more, so that some are corrected. `references` are sums of log-probabilities.
 */
export function batchOf(
  sequences: readonly MaskedTokens[],
  scores: readonly (readonly number[])[],
  references: readonly number[],
): Batch {
  const uniform = uniformOf("batch");
  const spread = ({ mask }: MaskedTokens, numbers: readonly number[], width: number) => {
    let next = 0;
    return mask.map((marked) => (marked === 1 ? numbers[next++]! + width * (2 * uniform() - 1) : 0));
  };
  const trajectories = sequences.map((sequence, index): TrainingTrajectory => {
    const logprobs = spread(sequence, scores[index]!, 0.4);
    return {
      ...sequence,
      id: `run/step-0001/task-${index % 2}/${index}`,
      group: `task-${index % 2}`,
      reward: [1, 0, 0.5, 0, 1, 0.25, 0, 0.75][index % 8]!,
      logprobs,
      samplingLogprobs: logprobs.map((value) => (value === 0 ? 0 : value + 2 * (uniform() - 0.5))),
      truncated: index === 3,
    };
  });
  const pairs = Array.from({ length: sequences.length / 2 }, (_, index): TrainingPair => {
    const [chosen, rejected] = [2 * index, 2 * index + 1];
    return {
      chosen: sequences[chosen]!,
      rejected: sequences[rejected]!,
      reference: { chosen: references[chosen]!, rejected: references[rejected]! },
    };
  });
  return { trajectories, pairs };
}

function uniformOf(trajectory: string): () => number {
  const stream = createUniformStream({ seed: 1, trajectory, turn: 0 });
  let drawn = 0;
  return () => stream(drawn++);
}
