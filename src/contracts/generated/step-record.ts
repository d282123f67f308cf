// Generated from schemas/step-record.schema.json by scripts/generate-types.ts: change the schema instead.

/**
 * A line of metrics.jsonl: one step. What only rollouts have is absent where examples are trained on, and the other way round.
 */
export interface StepRecord {
  /**
   * From 1.
   */
  step: number;
  /**
   * The version this step made.
   */
  policyVersion: number;
  /**
   * How many versions the oldest trajectory of the batch was behind the policy that it trained: from its oldest action on.
   */
  staleness: number;
  /**
   * The same, the mean over the trajectories of the batch. Absent in runs of 0.1.
   */
  stalenessMean?: number;
  /**
   * Trajectories in the batch.
   */
  trajectories: number;
  /**
   * Trajectories in the batches of the run's steps, this one's included.
   */
  trajectoriesSoFar: number;
  /**
   * Trajectories whose infrastructure failed.
   */
  leftOut: number;
  /**
   * The share of the step's trajectories whose infrastructure failed. Absent in runs of 0.1.
   */
  leftOutShare?: number;
  /**
   * How many trajectories were left out by reason: the commonest ones. Absent if none was.
   */
  leftOutReasons?: {
    /**
     * Trajectories left out for this reason.
     */
    [k: string]: number;
  };
  /**
   * What the rewards and the tools measured, by name, and each of several rewards: the mean of the finished trajectories that have it; and how many actions and observations were cut at their budgets (cutActions, cutObservations), the mean of all. Absent if nothing.
   */
  metrics?: {
    /**
     * Mean of the metric.
     */
    [k: string]: number;
  };
  /**
   * Groups that train nothing, because fewer than rollout.minGroup of their trajectories finished. Absent if there is none.
   */
  groupsLost?: number;
  /**
   * Groups that train nothing, because their trajectories all earned the same or too few finished. Absent without dynamic sampling.
   */
  groupsLeftOut?: number;
  /**
   * Over the trajectories that finished.
   */
  rewardMean?: number;
  /**
   * Share of solved trajectories.
   */
  successRate?: number;
  /**
   * Share of trajectories that called a tool.
   */
  toolCallRate?: number;
  /**
   * Share of valid tool calls; 1 if there was none.
   */
  validCallRate?: number;
  /**
   * Mean over action tokens to the reference policy, in nats. Absent without a KL term.
   */
  kl?: number;
  /**
   * Mean over action tokens from the policy that sampled to the updated one, in nats.
   */
  approximateKl?: number;
  /**
   * Mean over action tokens, in nats; estimated by the surprisal of what was sampled if the loss has no entropy term.
   */
  entropy?: number;
  /**
   * Share of action tokens whose ratio was clipped.
   */
  clipFraction?: number;
  /**
   * Clipped surrogate loss.
   */
  policyLoss?: number;
  /**
   * Loss of the value head. Absent without one.
   */
  valueLoss?: number;
  /**
   * Norm of the gradient of a critic that is a model of its own, before clipping. Absent without one.
   */
  valueGradientNorm?: number;
  /**
   * Updates of the step; fewer than its minibatches where klStop ended it. Absent without klStop.
   */
  updates?: number;
  /**
   * What rewards were divided by: the deviation of all so far. Absent without rewardNormalization.
   */
  rewardScale?: number;
  /**
   * Trajectories that trained nothing as a limit cut them. Absent without maskTruncated.
   */
  masked?: number;
  /**
   * Demonstrations or pairs that the step's updates trained on.
   */
  examples?: number;
  /**
   * Passes over the examples by the end of the step.
   */
  epoch?: number;
  /**
   * Of the step's updates, their mean: of demonstrations nats a token, of pairs that of dpo.loss.
   */
  loss?: number;
  /**
   * The same of the held-out examples, after the step.
   */
  heldOutLoss?: number;
  /**
   * Share of the step's pairs whose chosen answer was ahead, each before its update.
   */
  accuracy?: number;
  /**
   * The same of the held-out pairs, after the step.
   */
  heldOutAccuracy?: number;
  /**
   * By what the chosen answers of the step's pairs were ahead: the mean of beta times the difference of the log-ratios to the reference, nats.
   */
  margin?: number;
  /**
   * The same of the held-out pairs, after the step.
   */
  heldOutMargin?: number;
  /**
   * Updates of the step that were skipped, since a number overflowed in float16. Absent with other precisions.
   */
  skippedUpdates?: number;
  /**
   * What the loss of the step's last update was multiplied with for float16's backward pass. Absent with other precisions.
   */
  lossScale?: number;
  /**
   * Before clipping.
   */
  gradientNorm: number;
  /**
   * Of the step's last update.
   */
  learningRate: number;
  /**
   * Of the value head, where it has one of its own. Absent without.
   */
  valueLearningRate?: number;
  /**
   * Largest difference between recorded and recomputed log-probabilities.
   */
  logprobGap?: number;
  /**
   * Mean difference between recorded and recomputed log-probabilities.
   */
  logprobGapMean?: number;
  /**
   * Estimated divergence from the policy as the sampler recorded it to the trainer's, nats a token (k3).
   */
  samplerKl?: number;
  /**
   * Numbers of tokens of the batch by origin.
   */
  tokens: {
    /**
     * Tokens of prompts.
     */
    prompt: number;
    /**
     * Tokens the policy sampled.
     */
    action: number;
    /**
     * Tokens of observations.
     */
    observation: number;
  };
  /**
   * Mean number of action tokens of a trajectory.
   */
  actionLength?: number;
  /**
   * Mean number of turns of a trajectory.
   */
  turns?: number;
  /**
   * Wall-clock time by phase.
   */
  seconds: {
    /**
     * From the first trajectory's start to the last one's score: generation, tools and scoring overlap.
     */
    rollout: number;
    /**
     * The trainer's step.
     */
    train: number;
    /**
     * Making the new version generate.
     */
    publish: number;
    /**
     * The whole step.
     */
    total: number;
  };
}
