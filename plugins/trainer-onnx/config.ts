// Generated from plugins/trainer-onnx/everturn.plugin.json by scripts/generate-types.ts: change the schema instead.

export interface TrainerConfig {
  /**
   * Which algorithm's numbers stand where nothing else is said. docs/algorithms.md has them.
   */
  algorithm: "ppo" | "grpo" | "dr-grpo" | "dapo" | "rloo" | "reinforce++" | "reinforce++-baseline" | "gspo";
  /**
   * Of AdamW, after the warm-up. Default: 1e-6 where all weights of a pretrained model are trained, 1e-4 with LoRA or from random weights.
   */
  learningRate?: number;
  /**
   * Policy-gradient steps over which the learning rate rises to its value, linearly.
   */
  warmupSteps: number;
  /**
   * How the learning rate falls after that, over decaySteps.
   */
  decay: "none" | "linear" | "cosine";
  /**
   * Policy-gradient steps, counted from the first, after which the learning rate has fallen. Wanted by decay.
   */
  decaySteps?: number;
  /**
   * Of the learning rate, which is left after decaySteps.
   */
  finalFraction: number;
  /**
   * Where values come from: a head on the policy (head), or a model of its own that begins as the policy does, for as much memory again (model).
   */
  critic: "head" | "model";
  /**
   * Of the value head or the critic's model, at every step; a head is small and new, so ten times the learning rate is usual. Default: the learning rate.
   */
  valueLearningRate?: number;
  /**
   * Policy-gradient steps, from the first one, in which values alone are learned. The policy's schedule begins after them.
   */
  valueWarmupSteps: number;
  /**
   * Passes over a step's batch.
   */
  epochs: number;
  /**
   * Nats a token: the first update whose approximateKl is above it is the last of its step. None is if left out.
   */
  klStop?: number;
  /**
   * Trajectories that a limit of turns, tokens or time cut have a part in their group's baseline, and train nothing.
   */
  maskTruncated: boolean;
  /**
   * Rewards are divided by the deviation of all the run's rewards so far (scale), less their mean first (standardize).
   */
  rewardNormalization: "none" | "scale" | "standardize";
  /**
   * A reward, normalized if it is, counts no more than this and no less than minus this. Not clipped if left out.
   */
  rewardClip?: number;
  /**
   * Trajectories of one update; divides rollout.batchSize. Default: 64 where that divides it, else all of a step.
   */
  minibatchSize?: number;
  /**
   * Tokens that go through the model at once; what trajectories begin with alike counts once, and an eighth where it stands again, as padding does. A minibatch with more is split and its gradients summed. Default: 1,024, up to 4,096 where trajectories begin with much that is alike, down to 256 where memory is short.
   */
  maxTokensPerRun?: number;
  /**
   * MiB that the trainer's process may hold: runs are made as small, and as many layers are computed again, as must be. Default: four fifths of what is available when an update begins.
   */
  memory?: number;
  /**
   * Gradients keep only each layer's input and compute the layer again (gradient checkpointing): much less memory for long trajectories, a quarter to a half more time. Default: for as many layers as must be to fit in memory.
   */
  recompute?: boolean;
  /**
   * gae: with a value head; group-mean: less the mean reward of the task's trajectories; leave-one-out: less the mean of the others; return: the rewards that follow. Default: the algorithm's.
   */
  advantages?: "gae" | "group-mean" | "leave-one-out" | "return";
  /**
   * What advantages are divided by: nothing, the deviation of their group's rewards, or that of the batch's tokens (whitened). Default: the algorithm's.
   */
  normalization?: "none" | "group" | "batch";
  /**
   * What rewards are credited to: tokens (gae, return), turns (gae, group-mean), or trajectories (group-mean, leave-one-out). Default: the algorithm's.
   */
  credit?: "token" | "turn" | "trajectory";
  /**
   * For gae and return. Default: the algorithm's.
   */
  gamma?: number;
  /**
   * 1 is the whole return, 0 one step of it. Default: the algorithm's.
   */
  lambda?: number;
  /**
   * Whether gamma and lambda apply from token to token or only from turn to turn. Default: the algorithm's.
   */
  discount?: "token" | "turn";
  /**
   * What is compared with the policy that sampled: token by token, the geometric mean of a sequence, or the product over a trajectory. Default: the algorithm's.
   */
  ratio?: "token" | "sequence" | "trajectory";
  /**
   * The probability ratio counts no less than 1 less this. Default: the algorithm's.
   */
  clipLow?: number;
  /**
   * The probability ratio counts no more than 1 and this. Default: the algorithm's.
   */
  clipHigh?: number;
  /**
   * The ratio counts no more than this where the advantage is negative; 3 is usual. Off if left out.
   */
  dualClip?: number;
  /**
   * How the losses of tokens become one: their mean, the mean of the sequences' means or sums, or of their sums over lengthConstant. Default: the algorithm's.
   */
  aggregation?: "token-mean" | "sequence-mean" | "sequence-sum" | "constant";
  /**
   * What the aggregation constant divides a sequence's sum by; the most action tokens of a trajectory is usual.
   */
  lengthConstant: number;
  /**
   * A new value counts no further than this from the old one. Default: the algorithm's.
   */
  valueClip?: number;
  /**
   * Weight of the value loss. Default: the algorithm's.
   */
  valueCoefficient?: number;
  /**
   * Weight of the entropy bonus. Default: the algorithm's.
   */
  entropyCoefficient?: number;
  /**
   * Weight of the KL divergence from the policy that reinforcement learning started with; 0 for none. Default: the algorithm's.
   */
  klCoefficient?: number;
  /**
   * A term of the loss, or taken from the tokens' rewards. Default: the algorithm's.
   */
  klIn?: "loss" | "reward";
  /**
   * k1: log-ratio; k2: half its square; k3: ratio less 1 less its logarithm. Default: the algorithm's.
   */
  klEstimator?: "k1" | "k2" | "k3";
  /**
   * Nats a token that klCoefficient is steered towards. It stays if left out.
   */
  klTarget?: number;
  /**
   * How slowly klCoefficient is steered, in trajectories.
   */
  klHorizon: number;
  /**
   * How much trajectories count that the trainer finds more or less likely than their sampler did: by token or sequence, held at importanceMaximum or left out outside of the range. Default: token-truncate where the sampler draws from another distribution than the one that is trained (rollout.staleness, or sampling settings such as topP), else none.
   */
  importanceCorrection?: "none" | "token-truncate" | "token-mask" | "sequence-truncate" | "sequence-mask";
  /**
   * Of a token or sequence that isn't masked.
   */
  importanceMinimum: number;
  /**
   * Of a token or sequence.
   */
  importanceMaximum: number;
  /**
   * The most action tokens, for punishing trajectories that come near them. Not punished if left out.
   */
  overlongMaximum?: number;
  /**
   * The punishment grows over the last so many action tokens.
   */
  overlongBuffer: number;
  /**
   * What the longest trajectories lose of their reward.
   */
  overlongPenalty: number;
  /**
   * Leave out the tasks whose trajectories all earned the same; with credit turn, those whose turns all did. Default: the algorithm's.
   */
  leaveOutUniformGroups?: boolean;
  /**
   * Largest norm of the whole gradient.
   */
  gradientClip: number;
  /**
   * Decoupled, of AdamW.
   */
  weightDecay: number;
  /**
   * How slowly the mean of squared gradients forgets. The first beta is 0.9.
   */
  beta2: number;
  /**
   * Train a low-rank adapter instead of all weights, which are trained if left out.
   */
  lora?: {
    /**
     * Of the adapter's matrices.
     */
    rank: number;
    /**
     * The adapter's part is scaled by alpha / rank.
     */
    alpha: number;
    /**
     * The linear maps that are adapted, by the last parts of their names.
     *
     * @minItems 1
     */
    targets: ("q_proj" | "k_proj" | "v_proj" | "o_proj" | "gate_proj" | "up_proj" | "down_proj")[];
  };
  /**
   * Where the model is trained: on the processor, or on a card by CUDA or WebGPU.
   */
  device: "cpu" | "cuda" | "webgpu";
  /**
   * What matrix products compute in; weights, gradients and losses stay float32.
   */
  precision: "float32" | "float16" | "bfloat16";
  /**
   * 8: AdamW's moments of matrices take two bytes a number instead of eight, in blocks with dynamic codes, as in bitsandbytes; embeddings and small parameters keep 32. On the processor only.
   */
  optimizerBits: 32 | 8;
  /**
   * Threads that an operator of the model, and the optimizer, may use. Default: 2 for small models, from 64 MiB of weights on as many as there are processors.
   */
  threads?: number;
}

/** What the schema fills in. */
export const defaults = {
  algorithm: "ppo",
  warmupSteps: 10,
  decay: "none",
  finalFraction: 0,
  critic: "head",
  valueWarmupSteps: 0,
  epochs: 1,
  maskTruncated: false,
  rewardNormalization: "none",
  lengthConstant: 1024,
  klHorizon: 10000,
  importanceMinimum: 0.5,
  importanceMaximum: 2,
  overlongBuffer: 256,
  overlongPenalty: 1,
  gradientClip: 1,
  weightDecay: 0,
  beta2: 0.95,
  device: "cpu",
  precision: "float32",
  optimizerBits: 32,
} satisfies Partial<TrainerConfig>;
