// Generated from plugins/trainer-onnx/everturn.plugin.json by scripts/generate-types.ts: change the schema instead.

export interface TrainerConfig {
  /**
   * The algorithm that sets the defaults of the other options. docs/algorithms.md lists them.
   */
  algorithm: "ppo" | "grpo" | "dr-grpo" | "dapo" | "rloo" | "reinforce++" | "reinforce++-baseline" | "gspo";
  /**
   * Learning rate of AdamW after the warm-up. Default: 1e-6 if all weights of a pretrained model are trained, 1e-4 with LoRA or from random weights.
   */
  learningRate?: number;
  /**
   * Passes over a step's batch.
   */
  epochs: number;
  /**
   * Trajectories per update; must divide rollout.batchSize. Default: 64 if that divides it, else all of a step.
   */
  minibatchSize?: number;
  /**
   * Weight of the KL divergence from the policy at the start of reinforcement learning; 0 for none. Default: the algorithm's.
   */
  klCoefficient?: number;
  /**
   * Clip the probability ratio below 1 minus this. Default: the algorithm's.
   */
  clipLow?: number;
  /**
   * Clip the probability ratio above 1 plus this. Default: the algorithm's.
   */
  clipHigh?: number;
  /**
   * Train a low-rank adapter. Default: train all weights.
   */
  lora?: {
    /**
     * Rank of the adapter's matrices.
     */
    rank: number;
    /**
     * The adapter's output is scaled by alpha / rank.
     */
    alpha: number;
    /**
     * The linear layers to adapt, by the last parts of their names.
     *
     * @minItems 1
     */
    targets: ("q_proj" | "k_proj" | "v_proj" | "o_proj" | "gate_proj" | "up_proj" | "down_proj")[];
  };
  /**
   * Keep the vision part of a vision-language model, its encoder and its connector. false: train it with the other weights. CPU and float32 only, without lora.
   */
  freezeVisionTower: boolean;
  /**
   * Memory limit in MiB of the trainer's process. To stay within it, the trainer uses smaller passes and recomputes more layers. Default: four fifths of the memory available when an update begins.
   */
  memory?: number;
  /**
   * Where the model is trained: on the CPU, or on a GPU with CUDA or WebGPU.
   */
  device: "cpu" | "cuda" | "webgpu";
  /**
   * Precision of matrix products. Weights, gradients and losses stay float32.
   */
  precision: "float32" | "float16" | "bfloat16";
  /**
   * 8: the AdamW moments of matrices take two bytes per number instead of eight, in blocks with dynamic codes, as in bitsandbytes. Embeddings and small parameters keep 32 bits. CPU only.
   */
  optimizerBits: 32 | 8;
  /**
   * Threads per operator of the model, and of the optimizer. Default: 2 for small models, one per processor from 64 MiB of weights on.
   */
  threads?: number;
  /**
   * Divide the trajectories of each update into this number of fixed portions, which up to as many trainers compute at the same time. The result does not depend on the number of trainers. CPU only. Default: one trainer computes each step.
   */
  dataParallel?: number;
  /**
   * Gradient checkpointing: keep only each layer's input and recompute the layer for its gradient. Long trajectories need much less memory, and a quarter to a half more time. Default: as many layers as necessary to fit in memory.
   */
  recompute?: boolean;
  /**
   * Tokens in one pass through the model. A prefix that trajectories share counts once, and its repetitions and padding count an eighth. Larger minibatches are split, and their gradients are summed. Default: 1,024, up to 4,096 if trajectories share long prefixes, down to 256 if memory is scarce.
   */
  maxTokensPerRun?: number;
  /**
   * Policy-gradient steps over which the learning rate rises linearly to its value.
   */
  warmupSteps: number;
  /**
   * How the learning rate falls after that, over decaySteps.
   */
  decay: "none" | "linear" | "cosine";
  /**
   * Policy-gradient steps, counted from the first, after which the learning rate has reached its minimum. Required with decay.
   */
  decaySteps?: number;
  /**
   * Share of the learning rate that remains after decaySteps.
   */
  finalFraction: number;
  /**
   * Decoupled weight decay of AdamW.
   */
  weightDecay: number;
  /**
   * Decay rate of the mean of squared gradients. The first beta is 0.9.
   */
  beta2: number;
  /**
   * Maximum norm of the whole gradient.
   */
  gradientClip: number;
  /**
   * gae: with a value head; group-mean: the reward minus the mean of the task's trajectories; leave-one-out: minus the mean of the others; return: the sum of later rewards. Default: the algorithm's.
   */
  advantages?: "gae" | "group-mean" | "leave-one-out" | "return";
  /**
   * What advantages are divided by: nothing, the standard deviation of their group's rewards, or that of the batch's tokens (whitened). Default: the algorithm's.
   */
  normalization?: "none" | "group" | "batch";
  /**
   * What earns the rewards: tokens (gae, return), turns (gae, group-mean), or trajectories (group-mean, leave-one-out). Default: the algorithm's.
   */
  credit?: "token" | "turn" | "trajectory";
  /**
   * For gae and return. Default: the algorithm's.
   */
  gamma?: number;
  /**
   * 1 uses the whole return, 0 only one step of it. Default: the algorithm's.
   */
  lambda?: number;
  /**
   * Whether gamma and lambda apply between tokens or only between turns. Default: the algorithm's.
   */
  discount?: "token" | "turn";
  /**
   * The probability ratio to the policy that sampled: per token, the geometric mean over a sequence, or the product over a trajectory. Default: the algorithm's.
   */
  ratio?: "token" | "sequence" | "trajectory";
  /**
   * Upper limit of the ratio for negative advantages; 3 is usual. Default: off.
   */
  dualClip?: number;
  /**
   * How token losses are combined: their mean, the mean of the sequences' means or sums, or the mean of their sums divided by lengthConstant. Default: the algorithm's.
   */
  aggregation?: "token-mean" | "sequence-mean" | "sequence-sum" | "constant";
  /**
   * What the aggregation constant divides a sequence's sum by. The maximum number of action tokens in a trajectory is usual.
   */
  lengthConstant: number;
  /**
   * Weight of the entropy bonus. Default: the algorithm's.
   */
  entropyCoefficient?: number;
  /**
   * Exclude trajectories that a limit of turns, tokens or time cut from the loss. They still count in their group's baseline.
   */
  maskTruncated: boolean;
  /**
   * Leave out tasks whose trajectories all earned the same reward; with credit turn, tasks whose turns all did. Default: the algorithm's.
   */
  leaveOutUniformGroups?: boolean;
  /**
   * Limit of approximateKl in nats per token. The first update above it is the last one of its step. Default: no limit.
   */
  klStop?: number;
  /**
   * Where the KL divergence counts: as a term of the loss, or subtracted from the tokens' rewards. Default: the algorithm's.
   */
  klIn?: "loss" | "reward";
  /**
   * k1: the log-ratio; k2: half its square; k3: the ratio minus 1 minus its logarithm. Default: the algorithm's.
   */
  klEstimator?: "k1" | "k2" | "k3";
  /**
   * Target in nats per token that klCoefficient adapts to. Default: klCoefficient stays constant.
   */
  klTarget?: number;
  /**
   * How slowly klCoefficient adapts, in trajectories.
   */
  klHorizon: number;
  /**
   * Where values come from: head, a head on the policy; or model, a separate model that starts as a copy of the policy and needs as much memory again.
   */
  critic: "head" | "model";
  /**
   * Learning rate of the value head or the critic model at every step. A head is small and new, so ten times the policy's learning rate is usual. Default: the policy's learning rate.
   */
  valueLearningRate?: number;
  /**
   * Number of policy-gradient steps at the start that train only the values. The policy's schedule begins after them.
   */
  valueWarmupSteps: number;
  /**
   * Clip new values to within this distance of the old ones. Default: the algorithm's.
   */
  valueClip?: number;
  /**
   * Weight of the value loss. Default: the algorithm's.
   */
  valueCoefficient?: number;
  /**
   * How to weight trajectories for which trainer and sampler compute different probabilities: per token or per sequence, truncated at importanceMaximum or masked outside the range. Default: token-truncate if the sampling distribution differs from the trained one (rollout.staleness, or sampling settings such as topP), else none.
   */
  importanceCorrection?: "none" | "token-truncate" | "token-mask" | "sequence-truncate" | "sequence-mask";
  /**
   * Smallest weight of a token or sequence that is not masked.
   */
  importanceMinimum: number;
  /**
   * Largest weight of a token or sequence.
   */
  importanceMaximum: number;
  /**
   * How to normalize rewards: scale divides them by the standard deviation of all the run's rewards so far; standardize first subtracts their mean.
   */
  rewardNormalization: "none" | "scale" | "standardize";
  /**
   * Clip rewards, after normalization, to this absolute value. Default: no clipping.
   */
  rewardClip?: number;
  /**
   * Maximum number of action tokens, for the length penalty. Default: no penalty.
   */
  overlongMaximum?: number;
  /**
   * Number of action tokens below lengthMaximum over which the penalty grows.
   */
  overlongBuffer: number;
  /**
   * Reward that the longest trajectories lose.
   */
  overlongPenalty: number;
}

/** What the schema fills in. */
export const defaults = {
  algorithm: "ppo",
  epochs: 1,
  freezeVisionTower: true,
  device: "cpu",
  precision: "float32",
  optimizerBits: 32,
  warmupSteps: 10,
  decay: "none",
  finalFraction: 0,
  weightDecay: 0,
  beta2: 0.95,
  gradientClip: 1,
  lengthConstant: 1024,
  maskTruncated: false,
  klHorizon: 10000,
  critic: "head",
  valueWarmupSteps: 0,
  importanceMinimum: 0.5,
  importanceMaximum: 2,
  rewardNormalization: "none",
  overlongBuffer: 256,
  overlongPenalty: 1,
} satisfies Partial<TrainerConfig>;
