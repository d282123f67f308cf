import type { ConfigurationProblem } from "./configuration-problem.ts";
import type { JsonObject } from "./json.ts";
import type { ResolvedPlugin } from "./plan.ts";
import type { MaskedTokens, ModelOutline, PolicyTraits } from "./policy.ts";

/** A finished trajectory as the trainer sees it: all of its tokens, exactly as sampled. */
export interface TrainingTrajectory {
  id: string;
  tokens: number[];
  /** 1 for tokens the policy sampled, 0 for prompt and observations. */
  mask: number[];
  /** Log-probabilities under the policy that sampled, at the rollout's temperature, over the whole vocabulary; 0 where mask is 0. */
  logprobs: number[];
  /**
   * Those under the distribution that the tokens were drawn from (top-p, a grammar and the like); absent where it is
   * the same.
   */
  samplingLogprobs?: number[];
  /** Of a mixture of experts: near-tie routing choices during sampling, by position in `tokens`, layer and expert. */
  routerTies?: number[];
  /** All that it earned. */
  reward: number;
  /** The part of `reward` that each turn earned, such as its tools' rewards; the rest comes with the last action token. */
  turnRewards?: number[];
  /** Trajectories of one task share a group. */
  group: string;
  /** A limit of turns, tokens or time ended it. Absent where none did. */
  truncated?: boolean;
  /**
   * Lengths of its rows, which stand one after the other in `tokens` and the columns beside it: conversations that share
   * one reward, such as sub-agents'. Absent where it is one row.
   */
  rows?: number[];
}

/** Metrics of a supervised step. */
export interface SupervisedMetrics {
  loss: number;
  gradientNorm: number;
  learningRate: number;
}

/** Metrics of a policy-gradient step. */
export interface PolicyGradientMetrics {
  /** To the reference policy, nats a token (k3 estimator); absent without a KL term. */
  kl?: number;
  /** From the policy that sampled to the updated one, nats a token (k3 estimator). */
  approximateKl: number;
  /** Nats a token: of the distribution if the loss has an entropy bonus, else estimated by −log p of what was sampled. */
  entropy: number;
  clipFraction: number;
  policyLoss: number;
  /** Absent without a value head. */
  valueLoss?: number;
  gradientNorm: number;
  /** The same of a critic that is a model of its own; absent without one. */
  valueGradientNorm?: number;
  learningRate: number;
  /** Of the value head or the critic, where it has one of its own; absent without. */
  valueLearningRate?: number;
  /** Largest difference between recorded and recomputed log-probabilities. */
  logprobGap: number;
  /** Mean difference between them; absent if the trainer doesn't say. */
  logprobGapMean?: number;
  /** From what was recorded to what was recomputed, nats a token (k3 estimator); absent if the trainer doesn't say. */
  samplerKl?: number;
  /** With an early stop alone: the updates that were made. */
  updates?: number;
  /** With `maskTruncated` alone: trajectories that trained nothing as a limit cut them. */
  masked?: number;
  /** With `rewardNormalization` alone: what rewards were divided by. */
  rewardScale?: number;
  /** With float16 alone: updates that were skipped as something in them overflowed, and the loss scale of the last one. */
  skippedUpdates?: number;
  lossScale?: number;
}

/** Of the updates of a warm start, or of steps on examples, from the pipeline. */
export interface SupervisedSettings {
  /** The largest. */
  learningRate: number;
  /** All of these updates, for their schedule. */
  steps: number;
}

/** What makes a loss of pairs, in TRL's names: `beta`, `loss_type`, `label_smoothing`. */
export interface PreferenceSettings {
  /** How strongly the policy is held to its reference. */
  beta: number;
  loss: "sigmoid" | "ipo";
  /** The share of pairs that are taken to be the wrong way round, below ½; of the loss sigmoid. */
  labelSmoothing: number;
}

/** Two answers to one prompt, of which the first is preferred. */
export interface TrainingPair {
  chosen: MaskedTokens;
  rejected: MaskedTokens;
  /** The sums of their log-probabilities under the reference, nats. */
  reference: { chosen: number; rejected: number };
}

/** Metrics of an update on pairs, with the policy as it was before. */
export interface PreferenceMetrics extends SupervisedMetrics {
  /** Share of pairs whose chosen answer is ahead. */
  accuracy: number;
  /** The mean of beta times what the chosen answer is ahead by, nats. */
  margin: number;
}

/** Of a policy-gradient step. */
export interface PolicyGradientSettings {
  /** That the trajectories were sampled at. */
  temperature: number;
  /** To be told now and then what the step is at, in a few words such as "update 1 of 4, 50 % done": whoever watches the run sees them. */
  onProgress?: (said: string) => void;
}

/** A trainer at work: owns weights, value head and optimizer state. */
export interface Trainer {
  supervisedStep(batch: MaskedTokens[], settings: SupervisedSettings): Promise<SupervisedMetrics>;
  policyGradientStep(
    trajectories: TrainingTrajectory[],
    settings: PolicyGradientSettings,
  ): Promise<PolicyGradientMetrics>;
  /** One update on pairs. Absent if the trainer knows no preferences. */
  preferenceStep?(
    pairs: TrainingPair[],
    settings: SupervisedSettings & PreferenceSettings,
  ): Promise<PreferenceMetrics>;
  /**
   * The sum of the log-probabilities of each sequence's marked tokens, nats, by the policy as it is now or by the one that the steps began with.
   * Absent if the trainer can't say: then it trains on no pairs, and nothing can be held out.
   */
  score?(sequences: MaskedTokens[], by: "policy" | "reference"): Promise<number[]>;
  /** Writes the policy (Hugging Face's formats) and the trainer's own state, each into its folder. */
  save(policyFolder: string, stateFolder: string): Promise<void>;
  close(): Promise<void>;
}

/** Where a trainer starts from. Without `state` the optimizer and the value head start anew. */
export interface TrainerFolders {
  /** Version 0, which is never deleted: every version has its config and tokenizer files. */
  initial: string;
  policy: string;
  state?: string;
  /** The policy that the KL term refers to: the warm start. */
  reference?: string;
  /** For the batches of steps that diverge. */
  failures?: string;
}

/** What a trainer's configuration depends on of the rest of a pipeline. */
export interface TrainerSurroundings {
  groupSize: number;
  batchSize: number;
  staleness: number;
  policy: PolicyTraits;
}

/** A trainer's settings as they are in force: what the pipeline says, and the right values of what it leaves open. */
export interface ResolvedTraining {
  /** The whole configuration; it is what the plan has. */
  config: JsonObject;
  /** Of the warm start and of supervised fine-tuning, where the pipeline gives none. */
  warmStartLearningRate: number;
  /** The same of updates on pairs; 1e-6 if the trainer doesn't say. */
  preferenceLearningRate?: number;
  /** Whether what turns earned is compared within a group, so that trajectories of one reward may still teach something. */
  comparesTurns?: boolean;
}

/** What one update of a run is made of. */
export interface UpdateSize {
  of: "trajectories" | "demonstrations" | "pairs";
  count: number;
  /** Of each trajectory, demonstration or answer. */
  tokens: number;
}

/** A way to do an update, and what the trainer's process would hold, bytes. */
export interface UpdateWay {
  bytes: number;
  /** Which are weights, activations and the like, together. */
  parts: Record<string, number>;
  /** The way, in a few words. */
  text: string;
}

/** What an update would hold. */
export interface UpdateForecast extends UpdateSize {
  /** As it would be done with the memory that is available now; absent if that is too little. */
  usual?: UpdateWay;
  /** As it is done where memory is short. */
  least: UpdateWay;
}

/** The default export of a trainer plugin. */
export interface TrainerPlugin {
  /** `loss` is the loss plugin that the pipeline names, if it does. */
  open(folders: TrainerFolders, config: JsonObject, seed: number, loss?: ResolvedPlugin): Promise<Trainer>;
  /** Fills in what a configuration leaves open and no schema can, as it depends on the rest of the pipeline. */
  resolve?(config: JsonObject, surroundings: TrainerSurroundings): ResolvedTraining;
  /** What updates of these sizes would hold; undefined if it can't say. It has been resolved. Default: nothing is said. */
  forecast?(
    config: JsonObject,
    model: ModelOutline,
    updates: readonly UpdateSize[],
  ): UpdateForecast[] | undefined;
  /** What no schema can say of a configuration, asked before a run; it has been resolved. */
  check?(config: JsonObject, surroundings: TrainerSurroundings): ConfigurationProblem[];
}
