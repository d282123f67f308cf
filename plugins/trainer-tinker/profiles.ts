/**
 * How a server reduces the loss `cross_entropy` of a call, with signed weights w and log-probabilities l of its tokens.
 * - `sum`: −Σ w l over everything since the last optimizer step.
 * - `sequence-mean`: each sequence's −Σ w l is divided by max(Σ w, 1e-9), and the gradient by the number of sequences
 *   since the last optimizer step. A sum of weights that is zero or negative multiplies the gradient by 1e9.
 * - `call-mean`: the call's −Σ w l is divided by max(Σ w, 1).
 * - `unweighted`: weights only mark tokens.
 */
export type Reduction = "sum" | "sequence-mean" | "call-mean" | "unweighted";

/**
 * How a gradient g with respect to log-probabilities becomes the gradient of the weights.
 * - `weights`: cross_entropy with the weights −g.
 * - `importance-sampling`: importance_sampling at ratio 1 with the advantages −g × tokens of the sequence × sequences
 *   of the update.
 * - `custom-steps`: two calls. The second one posts g itself.
 */
export type ExactWay = "weights" | "importance-sampling" | "custom-steps";

/** What a server does with the optimizer's numbers. */
export interface OptimizerLimits {
  /** Whether it takes only the learning rate from a step, and the other numbers from its own configuration. */
  rateOnly?: true;
  /** Whether weight decay shrinks the adapters of all models on the server. */
  decaysAll?: true;
  /** The largest learning rate. Absent if there is none. */
  learningRate?: number;
  /** Whether it accepts a learning rate of 0. */
  zeroRate: boolean;
  /** The largest epsilon. Absent if there is none. */
  epsilon?: number;
}

/** What is known of a server's arithmetic and of its treatment of repeated requests. */
export interface ServerProfile {
  /** For messages. */
  title: string;
  crossEntropy: Reduction;
  /** Absent if nothing is exact on the server. */
  way?: ExactWay;
  /**
   * Its name of the loss −min(r A, clip(r, clip_low_threshold, clip_high_threshold) A), if its reduction is that of
   * `cross_entropy` with the weights 1. Used if the probe confirms it. Absent if it isn't exact or not known.
   */
  clippedLoss?: "ppo";
  /** Why the server is refused. Absent if it isn't. */
  refusal?: string;
  /** Why actions that it samples can't be trained on. Absent if they can. */
  samplingRefusal?: string;
  /** The losses that it computes itself. */
  losses: readonly string[];
  /**
   * A request that is sent again with its number.
   * - `kept`: it runs once, and both get the same answer.
   * - `strict`: it fails with the expected number, so the client knows that it ran.
   * - `runs-again`: it runs twice. A request whose answer was lost must not be sent again.
   */
  repeats: "kept" | "strict" | "runs-again";
  /**
   * After a restart, the server continues from the model's newest checkpoint. New requests succeed there, and only the
   * results of undone ones become errors.
   */
  rollsBack?: true;
  /**
   * Whether only the first checkpoint of a model is right. The trainer then continues from each checkpoint in a new
   * model.
   */
  savesOnce?: true;
  /**
   * The metrics in which it counts a model's optimizer steps, and its passes since the last one. The trainer compares
   * them with its own counts. Absent if it returns none.
   */
  counters?: { steps: string; passes: string };
  /** Whether it calls all failures errors of the user, even its own loss of a model. */
  blamesUser?: true;
  /** Whether its capabilities list the exact names of all its base models. */
  listsModels?: true;
  /** Whether it deletes checkpoints of models that were released. */
  deletes?: true;
  /** How it offers adapters for download: as an archive, or as files with signed addresses. Absent if it offers none. */
  downloads?: "archive" | "files";
  /**
   * A model may begin with gradients that another one left behind. Models have numbered places. A new one takes the first
   * free place, with the gradients of a model that ended there before its optimizer step.
   */
  leavesGradients?: true;
  /** Whether it clips gradients at `grad_clip_norm`. */
  clips: boolean;
  /** The metric of `optim_step` that holds the norm of the gradient before clipping. Absent if it returns none. */
  gradientNorm?: string;
  limits: OptimizerLimits;
}

/** The names of the servers in a pipeline. */
export type ServerName =
  | "tinker"
  | "skyrl-jax"
  | "skyrl-torch"
  | "tuft"
  | "verl-tinker"
  | "hatchery"
  | "twinkle";

const hosted = [
  "cross_entropy",
  "importance_sampling",
  "ppo",
  "cispo",
  "dro",
  "gspo",
  "stable_reinforce",
] as const;

/**
 * The known servers. Sources: the published packages tinker 0.38.0, skyrl 0.4.0, tuft 0.2.2, hatchery-core 0.3.0 and
 * twinkle-kit 0.5.1, and the `verl_tinker` recipe of verl. SkyRL on JAX (`per_seq_loss` and `get_mean` in
 * `skyrl/backends/jax.py`) and Hatchery were measured as well; the others were read. A probe confirms a profile before
 * anything is trained.
 */
export const profiles: Readonly<Record<ServerName, ServerProfile>> = {
  tinker: {
    title: "Tinker",
    crossEntropy: "sum",
    way: "weights",
    clippedLoss: "ppo", // its documentation of losses
    losses: hosted,
    repeats: "kept", // its own client sends a request again with the same idempotency key
    listsModels: true,
    deletes: true, // lib/public_interfaces/rest_client.py
    downloads: "files", // cli/commands/checkpoint.py
    clips: true,
    limits: { zeroRate: true },
  },
  "skyrl-jax": {
    title: "SkyRL on JAX",
    crossEntropy: "sequence-mean",
    way: "importance-sampling",
    clippedLoss: "ppo", // tinker/loss_fns.py
    losses: ["cross_entropy", "importance_sampling", "ppo", "cispo"],
    repeats: "kept",
    listsModels: true, // api.py, get_server_capabilities. create_model accepts any name
    deletes: true,
    downloads: "archive",
    leavesGradients: true, // skyrl/backends/jax.py: delete_model and create_model keep accumulated_grads
    clips: false, // its request has no such field, so the number is ignored
    gradientNorm: "skyrl.ai/grad_norm",
    limits: { zeroRate: true, decaysAll: true }, // its AdamW gets the matrices of all models
  },
  "skyrl-torch": {
    title: "SkyRL on PyTorch",
    crossEntropy: "sum",
    way: "weights",
    clippedLoss: "ppo", // ppo_utils.py, ppo_policy_loss
    losses: ["cross_entropy", "importance_sampling", "ppo", "gspo", "cispo", "ppo_critic", "dppo"],
    repeats: "kept",
    listsModels: true,
    deletes: true,
    downloads: "archive",
    clips: false, // at its own max_grad_norm, 1 by default
    gradientNorm: "skyrl.ai/grad_norm",
    limits: { zeroRate: true, rateOnly: true }, // skyrl_train_backend.py, optim_step,
  },
  tuft: {
    title: "TuFT",
    crossEntropy: "sum", // loss_fn/cross_entropy.py
    way: "weights",
    clippedLoss: "ppo", // loss_fn/ppo.py
    losses: ["cross_entropy", "importance_sampling", "ppo", "cispo", "dro", "trinity_ppo"],
    repeats: "strict",
    listsModels: true, // config.py, ModelConfig.model_name
    deletes: true, // server.py
    rollsBack: true, // futures.py, mark_futures_failed_after_checkpoint
    clips: true,
    limits: { zeroRate: true },
  },
  "verl-tinker": {
    title: "VeRL-Tinker",
    crossEntropy: "sum", // a test of the recipe holds it to that
    way: "weights",
    losses: ["cross_entropy", "importance_sampling", "ppo"],
    repeats: "runs-again", // nothing is known, so the worst is assumed
    clips: true,
    limits: { zeroRate: true },
  },
  hatchery: {
    title: "Hatchery",
    crossEntropy: "call-mean",
    way: "custom-steps", // losses.py, surrogate_loss_from_grad: no division
    // worker.py, _handle_sample: do_sample is false for one sample at temperature 1; transformers' top_k is 50
    samplingRefusal:
      "it draws the likeliest token at temperature 1, or one of the 50 likeliest if several actions are requested",
    losses: ["cross_entropy", "importance_sampling", "ppo", "cispo", "dapo", "grpo", "gspo", "orpo"],
    repeats: "runs-again", // the job is queued before its number is looked at
    savesOnce: true, // worker.py, _handle_save_weights: copies the live state only if it was never copied before
    counters: { steps: "step", passes: "accum_steps" },
    blamesUser: true, // tinker_compat.py, retrieve_future
    clips: true,
    limits: { learningRate: 10, zeroRate: false, epsilon: 1 },
  },
  twinkle: {
    title: "Twinkle",
    crossEntropy: "unweighted",
    refusal:
      "its cross_entropy uses weights only to tell tokens with loss from others, its importance_sampling clips ratios and takes means, and it computes cross_entropy for every loss that it does not know",
    losses: [],
    repeats: "runs-again",
    clips: false,
    limits: { zeroRate: true },
  },
};
