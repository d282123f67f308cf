// Generated from plugins/trainer-tinker/everturn.plugin.json by scripts/generate-types.ts: change the schema instead.

export interface TrainerConfig {
  /**
   * The server's software, whose arithmetic a probe confirms before anything is trained. docs/tinker.md compares them. Twinkle is listed to be refused with the reason.
   */
  server: "tinker" | "skyrl-jax" | "skyrl-torch" | "tuft" | "verl-tinker" | "hatchery" | "twinkle";
  /**
   * The server's URL, for example http://127.0.0.1:8000. Default for tinker: that of Thinking Machines' service.
   */
  url?: string;
  /**
   * The name of the environment variable that contains the API key. Default: TINKER_API_KEY for tinker, otherwise no key is sent.
   */
  apiKeyVariable?: string;
  /**
   * The name by which the server knows the model to adapt, for example Qwen/Qwen3-8B.
   */
  baseModel: string;
  /**
   * The low-rank adapter that the server trains. Default: rank 32, on all layers but the head.
   */
  lora?: {
    /**
     * Rank of the adapter's matrices.
     */
    rank: number;
    /**
     * Adapt the attention layers. SkyRL always does.
     */
    attention: boolean;
    /**
     * Adapt the feed-forward layers. SkyRL always does.
     */
    mlp: boolean;
    /**
     * Adapt the language-model head. SkyRL never does.
     */
    unembedding: boolean;
  };
  /**
   * Write the adapter of each version into the version's folder, for a policy that reads weights there, such as policy-inference-server. Default: true unless the policy samples on the training server.
   */
  downloadAdapter?: boolean;
  /**
   * Prices of a million tokens on the server, from which everturn explain estimates the cost of a run. Default: no estimate.
   */
  prices?: {
    /**
     * Tokens of prompts and of forward passes.
     */
    prefill: number;
    /**
     * Sampled tokens.
     */
    sample: number;
    /**
     * Tokens of forward and backward passes.
     */
    train: number;
    /**
     * The currency of the prices.
     */
    currency: string;
  };
  /**
   * The algorithm that sets the defaults of the other options. docs/algorithms.md lists them.
   */
  algorithm: "ppo" | "grpo" | "dr-grpo" | "dapo" | "rloo" | "reinforce++" | "reinforce++-baseline" | "gspo";
  /**
   * Learning rate of AdamW after the warm-up. Default: 1e-4.
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
   * Decoupled weight decay of AdamW. Default: 0. Refused on SkyRL: on PyTorch it has its own, and on JAX it applies it to all models on the server.
   */
  weightDecay?: number;
  /**
   * Decay rate of the mean of squared gradients. The first beta is 0.9. Default: 0.95. SkyRL on PyTorch has its own, so it is refused there.
   */
  beta2?: number;
  /**
   * Maximum norm of the whole gradient. Default: 1 where the server clips gradients at the number of a step, otherwise none. SkyRL ignores the number, so it is refused there.
   */
  gradientClip?: number;
  /**
   * The most tokens in one request. An update's sequences are split over requests, whose gradients add up.
   */
  callTokens: number;
  /**
   * gae: with a critic; group-mean: the reward minus the mean of the task's trajectories; leave-one-out: minus the mean of the others; return: the sum of later rewards. Default: the algorithm's.
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
   * Weight of a bonus for the exact entropy. Refused, because servers return the probabilities of single tokens only: use sampledEntropyCoefficient.
   */
  entropyCoefficient?: number;
  /**
   * Weight of an entropy bonus whose gradient is estimated from the sampled tokens: without bias, but with more variance than the exact one. Default: no bonus.
   */
  sampledEntropyCoefficient?: number;
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
   * Where the values of gae come from: model, a critic that trains here, next to the policy on the server. A head on the policy is refused, because servers return no hidden states. Default: model with gae.
   */
  critic?: "head" | "model";
  /**
   * Folder of a pretrained model in Hugging Face's format, with the policy's tokenizer, that the critic starts from. All of its weights are trained. Default: random weights, as in criticArchitecture.
   */
  criticModel?: string;
  /**
   * Shape of a critic with random weights, with the keys of Hugging Face's config.json. Instead of criticModel.
   */
  criticArchitecture?: {
    /**
     * The model family whose architecture is used. Default: llama.
     */
    model_type?: "llama" | "mistral" | "qwen2" | "qwen3" | "gemma";
    /**
     * Width of the residual stream; a multiple of twice num_attention_heads. Default: 128.
     */
    hidden_size?: number;
    /**
     * Number of layers. Default: 2.
     */
    num_hidden_layers?: number;
    /**
     * Query heads per layer. Default: 4.
     */
    num_attention_heads?: number;
    /**
     * Width inside the feed-forward block. Default: 512.
     */
    intermediate_size?: number;
    /**
     * Maximum number of tokens in a trajectory. Default: the policy's.
     */
    max_position_embeddings?: number;
  };
  /**
   * Learning rate of the critic at every step. Default: 1e-5 with criticModel, otherwise the policy's learning rate.
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
  algorithm: "grpo",
  epochs: 1,
  warmupSteps: 10,
  decay: "none",
  finalFraction: 0,
  callTokens: 32768,
  lengthConstant: 1024,
  maskTruncated: false,
  klHorizon: 10000,
  valueWarmupSteps: 0,
  importanceMinimum: 0.5,
  importanceMaximum: 2,
  rewardNormalization: "none",
  overlongBuffer: 256,
  overlongPenalty: 1,
} satisfies Partial<TrainerConfig>;
