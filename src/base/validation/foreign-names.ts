/** A setting of pipelines, and the names of the same setting in other frameworks. */
export interface ForeignNames {
  /** Its place in a pipeline, with trainer-onnx, loop-tool-agent and policy-onnx as plugins. */
  readonly setting: string;
  /** In verl, TRL and OpenRLHF. A dot separates a name from the section that it needs to be recognized. */
  readonly names: readonly string[];
  /** How its value differs. */
  readonly note?: string;
}

/** docs/choosing.md has the same names in a table. */
export const foreignNames: readonly ForeignNames[] = [
  {
    setting: "rollout.batchSize",
    names: ["train_batch_size", "per_device_train_batch_size", "rollout_batch_size"],
    note: "It counts trajectories, not tasks.",
  },
  { setting: "rollout.groupSize", names: ["rollout.n", "num_generations", "n_samples_per_prompt"] },
  {
    setting: "rollout.maxActionTokens",
    names: ["max_response_length", "max_completion_length", "generate_max_len"],
    note: "It limits one action; “rollout.limits.tokens” limits a trajectory.",
  },
  {
    setting: "trainer.config.minibatchSize",
    names: ["ppo_mini_batch_size"],
    note: "It counts trajectories, not tasks.",
  },
  { setting: "trainer.config.epochs", names: ["ppo_epochs", "num_iterations", "max_epochs"] },
  { setting: "trainer.config.learningRate", names: ["lr", "learning_rate", "actor_learning_rate"] },
  { setting: "trainer.config.warmupSteps", names: ["lr_warmup_steps", "warmup_steps"] },
  { setting: "trainer.config.gradientClip", names: ["grad_clip", "max_grad_norm", "max_norm"] },
  {
    setting: "trainer.config.klCoefficient",
    names: ["kl_loss_coef", "kl_coef", "beta", "init_kl_coef"],
  },
  { setting: "trainer.config.clipLow", names: ["clip_ratio", "clip_ratio_low", "epsilon", "eps_clip"] },
  { setting: "trainer.config.clipHigh", names: ["clip_ratio_high", "epsilon_high"] },
  { setting: "trainer.config.entropyCoefficient", names: ["entropy_coeff", "entropy_loss_coef"] },
  { setting: "trainer.config.algorithm", names: ["adv_estimator", "loss_type", "advantage_estimator"] },
  { setting: "trainer.config.aggregation", names: ["loss_agg_mode"] },
  { setting: "trainer.config.maskTruncated", names: ["mask_truncated_completions"] },
  { setting: "trainer.config.lora.rank", names: ["lora_rank", "lora_r"] },
  {
    setting: "steps",
    names: ["total_epochs", "total_training_steps", "max_steps", "num_train_epochs", "num_episodes"],
    note: "Each step samples rollout.batchSize trajectories and trains on them.",
  },
  { setting: "evaluation.every", names: ["test_freq", "eval_steps"] },
  { setting: "checkpoints.every", names: ["save_freq", "save_steps"] },
  { setting: "loop.config.maxTurns", names: ["max_assistant_turns"] },
  { setting: "policy.config.model", names: ["model.path", "model_name_or_path", "pretrain"] },
  { setting: "dataset.train", names: ["train_files", "train_dataset", "prompt_data"] },
  { setting: "dataset.validation", names: ["val_files", "eval_dataset"] },
];

/** The setting for which `path`, a key's place in a pipeline, is another framework's name. */
export function foreignName(path: string): ForeignNames | undefined {
  return foreignNames.find(({ names }) => names.some((name) => path === name || path.endsWith(`.${name}`)));
}
