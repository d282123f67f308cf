// Generated from schemas/step-record.schema.json by scripts/generate-types.ts: change the schema instead.

/**
 * A line of metrics.jsonl: one step. Fields of rollouts are absent if the step trains on examples, and vice versa.
 */
export interface StepRecord {
  /**
   * From 1.
   */
  step: number;
  /**
   * The version that this step made.
   */
  policyVersion: number;
  /**
   * How many versions the oldest action in the batch was behind the policy that it trained.
   */
  staleness: number;
  /**
   * The mean of this over the trajectories of the batch. Absent in runs of 0.1.
   */
  stalenessMean?: number;
  /**
   * Trajectories in the batch.
   */
  trajectories: number;
  /**
   * Trajectories in the batches of the run's steps so far, including this one.
   */
  trajectoriesSoFar: number;
  /**
   * Trajectories with infrastructure failures.
   */
  leftOut: number;
  /**
   * The share of the step's trajectories with infrastructure failures. Absent in runs of 0.1.
   */
  leftOutShare?: number;
  /**
   * Number of trajectories left out, by reason, for the most common reasons. Absent if there are none.
   */
  leftOutReasons?: {
    /**
     * Trajectories left out for this reason.
     */
    [k: string]: number;
  };
  /**
   * Seconds of the rollouts in which calls of tools or rewards waited because their host kept failing, by host. Absent if no host was paused.
   */
  hostPauses?: {
    /**
     * Seconds in which the host was paused.
     */
    [k: string]: number;
  };
  /**
   * Metrics of rewards and tools by name, and each of several rewards: the mean over the finished trajectories that have it. Also the mean number of actions and observations that were cut at their limits (cutActions, cutObservations). Absent if empty.
   */
  metrics?: {
    /**
     * Mean of the metric.
     */
    [k: string]: number;
  };
  /**
   * Groups that train nothing because fewer than rollout.minGroup of their trajectories finished. Absent if there are none.
   */
  groupsLost?: number;
  /**
   * Groups that train nothing because their trajectories all earned the same or too few finished. Absent without dynamic sampling.
   */
  groupsLeftOut?: number;
  /**
   * Over the finished trajectories.
   */
  rewardMean?: number;
  /**
   * Share of solved trajectories.
   */
  successRate?: number;
  /**
   * Share of trajectories that made a tool call that could be read.
   */
  toolCallRate?: number;
  /**
   * Share of valid tool calls; 1 if there were no calls.
   */
  validCallRate?: number;
  /**
   * Share of tool calls that could not be read; 0 if there were no calls.
   */
  unreadableCallRate?: number;
  /**
   * Share of actions that ended at rollout.maxActionTokens or at the end of the context.
   */
  cutActionShare?: number;
  /**
   * The observation that nearly all tool calls returned although their arguments differ. Absent if there is none.
   */
  commonObservation?: {
    /**
     * The beginning of the observation, at most 200 characters.
     */
    text: string;
    /**
     * Share of these calls that returned it.
     */
    share: number;
    /**
     * Number of valid calls whose observation the policy read in a further turn.
     */
    calls: number;
  };
  /**
   * Share of trajectories in which a tool returned the ground truth, word for word, before the policy answered. Those whose prompt contains it do not count. Absent if there are none.
   */
  shownAnswerShare?: number;
  /**
   * Share of the trajectories that read the answer whose own answer contains it. Absent if there are none.
   */
  givenAnswerShare?: number;
  /**
   * How the tools in the agent's first prompt of the step differ from those of the demonstrations, one entry per difference. Absent if they do not differ, and without an agent or demonstrations.
   *
   * @minItems 1
   *
   * Items: A difference in words.
   */
  toolDifferences?: string[];
  /**
   * Share of groups whose trajectories all earned the same. They contribute no gradient to a group baseline. Groups with fewer than two finished trajectories do not count; absent if there are no others.
   */
  uniformGroupShare?: number;
  /**
   * Share of the same groups whose trajectories all earned 0.
   */
  zeroGroupShare?: number;
  /**
   * Share of the same groups whose trajectories all earned 1.
   */
  oneGroupShare?: number;
  /**
   * Mean over the same groups of the standard deviation of their rewards.
   */
  rewardSpreadWithin?: number;
  /**
   * Share of trajectories that a limit of turns, tokens, time or invalid calls ended.
   */
  limitedShare?: number;
  /**
   * Mean reward of solved trajectories minus that of the others. Absent if all or none are solved.
   */
  solvedRewardLead?: number;
  /**
   * Standard deviation of the mean rewards of the groups that have a finished trajectory.
   */
  rewardSpreadBetween?: number;
  /**
   * Mean over action tokens to the reference policy, in nats. Absent without a KL term.
   */
  kl?: number;
  /**
   * Mean over action tokens from the sampling policy to the updated one, in nats.
   */
  approximateKl?: number;
  /**
   * Mean over action tokens, in nats. Estimated from the surprisal of the sampled tokens if the loss has no entropy term.
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
   * Norm of the gradient of a separate critic model, before clipping. Absent without one.
   */
  valueGradientNorm?: number;
  /**
   * Updates in the step; fewer than its minibatches if klStop ended it. Absent without klStop.
   */
  updates?: number;
  /**
   * The divisor of rewards: the standard deviation of all rewards so far. Absent without rewardNormalization.
   */
  rewardScale?: number;
  /**
   * Trajectories that trained nothing because a limit cut them. Absent without maskTruncated.
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
   * Mean loss of the step's updates: nats per token for demonstrations, dpo.loss for pairs.
   */
  loss?: number;
  /**
   * The same for the held-out examples, after the step.
   */
  heldOutLoss?: number;
  /**
   * Share of the step's pairs whose chosen answer was ahead before their update.
   */
  accuracy?: number;
  /**
   * The same for the held-out pairs, after the step.
   */
  heldOutAccuracy?: number;
  /**
   * Mean margin of the chosen answers in the step's pairs: beta times the difference of the log-ratios to the reference, in nats.
   */
  margin?: number;
  /**
   * The same for the held-out pairs, after the step.
   */
  heldOutMargin?: number;
  /**
   * Updates that were skipped because a number overflowed in float16. Absent with other precisions.
   */
  skippedUpdates?: number;
  /**
   * Loss scale of the step's last update in float16. Absent with other precisions.
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
   * Learning rate of the value head. Absent if it does not have its own.
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
   * Estimated divergence from the sampler's policy to the trainer's, in nats per token (k3).
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
     * Preparing the new version to generate.
     */
    publish: number;
    /**
     * The whole step.
     */
    total: number;
  };
}
