import type { ConfigurationProblem } from "./configuration-problem.ts";
import type { PlacedImage } from "./image-tokens.ts";
import type { JsonObject } from "./json.ts";
import type { ResolvedPlugin } from "./plan.ts";
import type { MaskedTokens, ModelOutline, PolicyTraits } from "./policy.ts";

/** A finished trajectory as the trainer receives it, with all of its tokens exactly as sampled. */
export interface TrainingTrajectory {
  id: string;
  tokens: number[];
  /** 1 for tokens that the policy sampled, 0 for prompt and observations. */
  mask: number[];
  /** The images whose tokens are among `tokens`, in their order. Default: none. */
  images?: PlacedImage[];
  /**
   * Log-probabilities under the sampling policy at the rollout's temperature, over the whole vocabulary; 0 where mask
   * is 0.
   */
  logprobs: number[];
  /**
   * Log-probabilities under the distribution that the tokens were drawn from (top-p, a grammar and the like). Absent if
   * it is the same.
   */
  samplingLogprobs?: number[];
  /** For a mixture of experts: near-tie routing choices during sampling, by position in `tokens`, layer and expert. */
  routerTies?: number[];
  /** The total reward. */
  reward: number;
  /** The part of `reward` that each turn earned, such as its tools' rewards; the rest comes with the last action token. */
  turnRewards?: number[];
  /** Trajectories of one task share a group. */
  group: string;
  /** A limit of turns, tokens or time ended it. Absent if none did. */
  truncated?: boolean;
  /**
   * Lengths of its rows, which follow each other in `tokens` and in the other columns. Rows are conversations that
   * share one reward, such as those of sub-agents. Absent if it has one row.
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
  /** KL divergence to the reference policy, nats per token (k3 estimator). Absent without a KL term. */
  kl?: number;
  /** KL divergence from the sampling policy to the updated one, nats per token (k3 estimator). */
  approximateKl: number;
  /**
   * Nats per token. With `entropyCoefficient`, the entropy of the distribution; otherwise estimated as −log p of the
   * sampled tokens.
   */
  entropy: number;
  clipFraction: number;
  policyLoss: number;
  /** Absent without a value head. */
  valueLoss?: number;
  gradientNorm: number;
  /** Gradient norm of a critic that is a separate model. Absent without one. */
  valueGradientNorm?: number;
  learningRate: number;
  /** Learning rate of the value head or the critic, if it has its own. Absent otherwise. */
  valueLearningRate?: number;
  /** Largest difference between recorded and recomputed log-probabilities. */
  logprobGap: number;
  /** Mean difference between them. Absent if the trainer does not report it. */
  logprobGapMean?: number;
  /**
   * KL divergence from recorded to recomputed probabilities, nats per token (k3 estimator). Absent if the trainer does
   * not report it.
   */
  samplerKl?: number;
  /** Number of updates. Set only with an early stop. */
  updates?: number;
  /** Number of trajectories that trained nothing because a limit cut them. Set only with `maskTruncated`. */
  masked?: number;
  /** Divisor of the rewards. Set only with `rewardNormalization`. */
  rewardScale?: number;
  /** Updates skipped because of an overflow, and the loss scale of the last one. Set only with float16. */
  skippedUpdates?: number;
  lossScale?: number;
}

/** The pipeline's settings for the updates of a warm start or of steps on examples. */
export interface SupervisedSettings {
  /** The peak learning rate. */
  learningRate: number;
  /** The total number of these updates, for their schedule. */
  steps: number;
}

/** The parameters of a loss on pairs: TRL's `beta`, `loss_type` and `label_smoothing`. */
export interface PreferenceSettings {
  /** How strongly the loss keeps the policy near its reference. */
  beta: number;
  loss: "sigmoid" | "ipo";
  /** The assumed share of pairs with swapped answers, below ½. Used by the sigmoid loss. */
  labelSmoothing: number;
}

/** Two answers to one prompt, the preferred one and the other. */
export interface TrainingPair {
  chosen: MaskedTokens;
  rejected: MaskedTokens;
  /** The sums of their log-probabilities under the reference, in nats. */
  reference: { chosen: number; rejected: number };
}

/** Metrics of an update on pairs, with the policy before the update. */
export interface PreferenceMetrics extends SupervisedMetrics {
  /** Share of pairs whose chosen answer has the higher implicit reward. */
  accuracy: number;
  /** Mean of beta times the lead of the chosen answer, in nats. */
  margin: number;
}

/** Shares the computations of a step among the trainers that take the step at the same time. */
export interface PortionSharing {
  /** The number of portions that a computation is divided into, if it has as many trajectories. */
  portions: number;
  /**
   * Passes the results of the `count` portions of the step's next computation to `use`, in order. `compute` computes
   * those that no other trainer has computed or is computing. All trainers get the same results.
   */
  gather(
    name: string,
    count: number,
    compute: (portion: number) => Promise<Uint8Array>,
    use: (result: Uint8Array) => void,
  ): Promise<void>;
}

/** The settings of a policy-gradient step. */
export interface PolicyGradientSettings {
  /** The temperature at which the trajectories were sampled. */
  temperature: number;
  /**
   * Called from time to time with the step's progress in a few words, such as "update 1 of 4, 50 % done", which a live
   * view shows.
   */
  onProgress?: (said: string) => void;
  /** Set if the trainer's plugin resolved a number of portions. */
  sharing?: PortionSharing;
}

/** The requests to a training server that made a version. */
export interface ServerStep {
  /** The server's URL. */
  url: string;
  /** The server's name of the model. Its requests have consecutive numbers from 1. */
  model: string;
  /** The numbers of the requests since the previous version, or since the model was created. */
  requests: { first: number; last: number };
  /** The checkpoint from which the model was loaded. Absent if it began with the server's base weights. */
  loaded?: string | undefined;
  /** The checkpoint with the version's weights and the optimizer's state. */
  checkpoint: string;
}

/** An open trainer. It owns the weights, the value head and the optimizer's state. */
export interface Trainer {
  supervisedStep(batch: MaskedTokens[], settings: SupervisedSettings): Promise<SupervisedMetrics>;
  policyGradientStep(
    trajectories: TrainingTrajectory[],
    settings: PolicyGradientSettings,
  ): Promise<PolicyGradientMetrics>;
  /** Makes one update on pairs. Absent if the trainer does not support preferences. */
  preferenceStep?(
    pairs: TrainingPair[],
    settings: SupervisedSettings & PreferenceSettings,
  ): Promise<PreferenceMetrics>;
  /**
   * Returns the sum of the log-probabilities of each sequence's marked tokens, in nats, under the current policy or the
   * reference, with which the steps began. A trainer without this method can't train on pairs or hold out examples.
   */
  score?(sequences: MaskedTokens[], by: "policy" | "reference"): Promise<number[]>;
  /** Writes the policy (in Hugging Face's formats) and the trainer's own state, each into its folder. */
  save(policyFolder: string, stateFolder: string): Promise<void>;
  /** Returns the requests that made the version that was saved last. Absent if no server trains. */
  serverStep?(): ServerStep | undefined;
  close(): Promise<void>;
}

/** The folders that a trainer starts from, and the run's images. Without `state` the optimizer and the value head start fresh. */
export interface TrainerFolders {
  /** Version 0, which is never deleted. Every version has its config and tokenizer files. */
  initial: string;
  policy: string;
  state?: string;
  /** The policy that the KL term refers to: the warm start's. */
  reference?: string;
  /** For the batches of steps that diverge. */
  failures?: string;
  /** Returns the bytes of an image by its SHA-256. Absent: no example or trajectory has images. */
  readImage?: (sha256: string) => Promise<Uint8Array>;
}

/** The parts of a pipeline that a trainer's configuration depends on. */
export interface TrainerSurroundings {
  groupSize: number;
  batchSize: number;
  staleness: number;
  policy: PolicyTraits;
  /** The temperature at which the policy samples trajectories and is trained. Absent: unknown. */
  temperature?: number;
}

/** A trainer's effective settings: the pipeline's, completed with suitable values. */
export interface ResolvedTraining {
  /** The whole configuration, which the plan stores. */
  config: JsonObject;
  /** Learning rate of the warm start and of supervised fine-tuning, if the pipeline sets none. */
  warmStartLearningRate: number;
  /** Learning rate of updates on pairs, if the pipeline sets none. Default: 1e-6. */
  preferenceLearningRate?: number;
  /**
   * Whether turn rewards are compared within a group, so that trajectories with equal total rewards may still teach
   * something.
   */
  comparesTurns?: boolean;
  /** The number of portions that each computation of a step is divided into. Default: the steps are not divided. */
  portions?: number | undefined;
}

/** The size of one update of a run. */
export interface UpdateSize {
  of: "trajectories" | "demonstrations" | "pairs";
  count: number;
  /** Tokens in each trajectory, demonstration or answer. */
  tokens: number;
}

/** A way to make an update, and the memory of the trainer's process, in bytes. */
export interface UpdateWay {
  bytes: number;
  /** The memory by kind: weights, activations and so on. */
  parts: Record<string, number>;
  /** A short description. */
  text: string;
}

/** The forecast memory of an update. */
export interface UpdateForecast extends UpdateSize {
  /** With the memory that is available now. Absent if that is too little. */
  usual?: UpdateWay;
  /** With as little memory as possible. */
  least: UpdateWay;
}

/** The size of a run's step. */
export interface StepSize extends UpdateSize {
  /** Updates of this size in a step on examples. 1 for trajectories, which a trainer divides into updates itself. */
  updates: number;
  /** Held-out examples that are scored after the updates. */
  heldOut: number;
  /** Whether a loss plugin replaces the trainer's own policy loss. */
  hasLossPlugin: boolean;
}

/** Requests to a training server, and the tokens that they process. */
export interface ServerUsage {
  requests: number;
  /** Tokens of forward passes. Services charge them like prompts. */
  prefill: number;
  /** Tokens of forward and backward passes. */
  train: number;
}

/** What a million tokens cost. */
export interface TokenPrices {
  prefill: number;
  sample: number;
  train: number;
  /** For example USD. */
  currency: string;
}

/** The default export of a trainer plugin. */
export interface TrainerPlugin {
  /** Opens the trainer. `loss` is the loss plugin, if the pipeline names one. */
  open(folders: TrainerFolders, config: JsonObject, seed: number, loss?: ResolvedPlugin): Promise<Trainer>;
  /** Fills in settings that no schema can, because they depend on the rest of the pipeline. */
  resolve?(config: JsonObject, surroundings: TrainerSurroundings): ResolvedTraining;
  /**
   * Forecasts the memory of updates of these sizes from a resolved configuration. Returns undefined if unknown.
   * Default: no forecast.
   */
  forecast?(
    config: JsonObject,
    model: ModelOutline,
    updates: readonly UpdateSize[],
  ): UpdateForecast[] | undefined;
  /**
   * Forecasts how a step of this size uses a training server, and returns the configured prices. Default: no server
   * trains.
   */
  usage?(config: JsonObject, step: StepSize): ServerUsage & { prices?: TokenPrices | undefined };
  /** Checks what a schema can't express in a resolved configuration, before a run. */
  check?(
    config: JsonObject,
    surroundings: TrainerSurroundings,
  ): ConfigurationProblem[] | Promise<ConfigurationProblem[]>;
  /**
   * Writes a version whose weights are on a server into the folder `target`: the files of the folder `policy`, and the
   * adapter in PEFT's format. Returns false if the version has the weights of the server's base model, which are not
   * downloaded. Default: all weights are in `policy`.
   */
  download?(policy: string, target: string, config: JsonObject): Promise<boolean>;
  /**
   * Returns a function that deletes checkpoints, named as in `ServerStep`, from the training server. It also resolves for
   * those that the server no longer has. Returns undefined if the server can't delete them. Default: no server trains.
   */
  checkpointDeleter?(config: JsonObject): ((checkpoints: readonly string[]) => Promise<void>) | undefined;
  /**
   * Returns notes for people before a run with a resolved configuration, such as a server that can't be reached yet.
   * Default: none.
   */
  notes?(config: JsonObject): string[] | Promise<string[]>;
}
