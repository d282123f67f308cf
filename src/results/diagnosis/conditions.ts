import type { StopCondition } from "../../contracts/generated/pipeline.ts";
import type { Condition } from "./condition.ts";
import {
  cutActions,
  cutObservations,
  greedySampling,
  invalidCalls,
  limitedTrajectories,
  missedAnswers,
  noToolCalls,
  randomActions,
  sameObservations,
  unreadableCalls,
} from "./conditions/actions.ts";
import { lostGroups, manyLeftOut, overload, pausedHosts } from "./conditions/infrastructure.ts";
import { differentTools } from "./conditions/prompts.ts";
import {
  constantRewards,
  largeRewards,
  neverRewarded,
  rewardAgainstSuccess,
  rewardCollapse,
  rewardHacking,
  rewardWithoutSuccess,
  tasksExhausted,
  uniformGroups,
} from "./conditions/rewards.ts";
import {
  deadValueHead,
  entropyCollapse,
  entropyGrowth,
  explodingGradient,
  klGrowth,
  learningRateHigh,
  learningRateLow,
  maskedTrajectories,
  overfitting,
  samplerGap,
  skippedUpdates,
  staleActions,
  strongKlPenalty,
  zeroGradient,
} from "./conditions/updates.ts";

/**
 * The conditions in which a run does not learn, by the name that `stopIf` and docs/not-learning.md use. Causes come before
 * their effects.
 */
export const conditions = {
  "paused-hosts": pausedHosts,
  overload,
  "many-left-out": manyLeftOut,
  "lost-groups": lostGroups,
  "different-tools": differentTools,
  "random-actions": randomActions,
  "greedy-sampling": greedySampling,
  "cut-actions": cutActions,
  "cut-observations": cutObservations,
  "no-tool-calls": noToolCalls,
  "unreadable-calls": unreadableCalls,
  "invalid-calls": invalidCalls,
  "same-observations": sameObservations,
  "missed-answers": missedAnswers,
  "limited-trajectories": limitedTrajectories,
  "never-rewarded": neverRewarded,
  "constant-rewards": constantRewards,
  "uniform-groups": uniformGroups,
  "reward-against-success": rewardAgainstSuccess,
  "reward-without-success": rewardWithoutSuccess,
  "large-rewards": largeRewards,
  "reward-hacking": rewardHacking,
  "reward-collapse": rewardCollapse,
  "tasks-exhausted": tasksExhausted,
  "masked-trajectories": maskedTrajectories,
  "zero-gradient": zeroGradient,
  "exploding-gradient": explodingGradient,
  "learning-rate-high": learningRateHigh,
  "learning-rate-low": learningRateLow,
  "strong-kl-penalty": strongKlPenalty,
  "kl-growth": klGrowth,
  "entropy-growth": entropyGrowth,
  "entropy-collapse": entropyCollapse,
  "dead-value-head": deadValueHead,
  "sampler-gap": samplerGap,
  "stale-actions": staleActions,
  "skipped-updates": skippedUpdates,
  overfitting,
} as const satisfies Record<StopCondition, Condition>;
