import { type AlgorithmSettings, comparesTurns } from "./algorithm.ts";
import type { RewardSettings } from "./reward-normalization.ts";
import type { TrainingSettings } from "./training-settings.ts";

/** A setting that conflicts with another one. */
export interface SettingProblem {
  /** The setting's name. */
  key: string;
  /** Such as "is 3, but …", without a period. */
  reason: string;
  /** What to do. */
  help: string;
}

const credits: Readonly<Record<AlgorithmSettings["advantages"], readonly AlgorithmSettings["credit"][]>> = {
  gae: ["token", "turn"],
  "group-mean": ["trajectory", "turn"],
  "leave-one-out": ["trajectory"],
  return: ["token"],
};

/** Returns the conflicts among an algorithm's settings and the size of its groups. */
export function algorithmProblems(
  settings: AlgorithmSettings &
    RewardSettings &
    Pick<TrainingSettings, "critic" | "valueLearningRate" | "valueWarmupSteps">,
  groupSize: number,
): SettingProblem[] {
  const { advantages, normalization, credit, ratio, aggregation } = settings;
  const needsGroups = advantages === "group-mean" || advantages === "leave-one-out";
  const checks: [boolean, SettingProblem][] = [
    [
      needsGroups && groupSize < 2,
      {
        key: "advantages",
        reason: `is ${advantages}, which compares the trajectories of a task, but rollout.groupSize is ${groupSize}`,
        help: "Set rollout.groupSize to 2 or more (8 is usual), or take the algorithm ppo or reinforce++.",
      },
    ],
    [
      settings.leaveOutUniformGroups && groupSize < 2,
      {
        key: "leaveOutUniformGroups",
        reason: `leaves out every group, as rollout.groupSize is ${groupSize}`,
        help: "Set rollout.groupSize to 2 or more, or leave it false.",
      },
    ],
    [
      normalization === "group" && advantages !== "group-mean",
      {
        key: "normalization",
        reason: `is group, but advantages is ${advantages}, which has no deviation within a group`,
        help: "Use none or batch, or set advantages to group-mean.",
      },
    ],
    [
      !credits[advantages].includes(credit),
      {
        key: "credit",
        reason: `is ${credit}, but advantages is ${advantages}, which credits by ${credits[advantages].join(" or ")}`,
        help: `Use ${credits[advantages].join(" or ")}.`,
      },
    ],
    [
      ratio !== "token" && aggregation !== "sequence-mean",
      {
        key: "aggregation",
        reason: `is ${aggregation}, which would count the ratio of a whole ${ratio} once for each of its tokens`,
        help: "Use sequence-mean, or set ratio to token.",
      },
    ],
    ...(["valueLearningRate", "valueWarmupSteps"] as const).map((key): [boolean, SettingProblem] => [
      advantages !== "gae" && (settings[key] ?? 0) > 0,
      {
        key,
        reason: `is ${settings[key]}, but advantages is ${advantages}, which has no value head`,
        help: "Remove it, or set advantages to gae.",
      },
    ]),
    ...rewardChecks(settings),
    [
      advantages !== "gae" && settings.critic === "model",
      {
        key: "critic",
        reason: `is model, but advantages is ${advantages}, which has no values`,
        help: "Remove it, or set advantages to gae.",
      },
    ],
    [
      settings.klTarget !== undefined && settings.klCoefficient === 0,
      {
        key: "klCoefficient",
        reason: "is 0, which a klTarget can't steer",
        help: "Give it a value to start from, such as 0.01, or remove klTarget.",
      },
    ],
    [
      settings.importanceMinimum >= settings.importanceMaximum,
      {
        key: "importanceMinimum",
        reason: `is ${settings.importanceMinimum}, not below importanceMaximum, ${settings.importanceMaximum}`,
        help: "Lower it.",
      },
    ],
    [
      settings.overlongMaximum !== undefined && settings.overlongBuffer > settings.overlongMaximum,
      {
        key: "overlongBuffer",
        reason: `is ${settings.overlongBuffer}, more than overlongMaximum, ${settings.overlongMaximum}`,
        help: "Lower it.",
      },
    ],
  ];
  return checks.flatMap(([wrong, problem]) => (wrong ? [problem] : []));
}

/**
 * Advantages that are divided by a deviation do not depend on a common scale of their rewards, unless other terms are
 * added.
 */
function rewardChecks(settings: AlgorithmSettings & RewardSettings): [boolean, SettingProblem][] {
  const { advantages, normalization, rewardNormalization = "none", rewardClip } = settings;
  const hasBaseline = advantages === "group-mean" || advantages === "leave-one-out";
  const compares = hasBaseline && rewardClip === undefined;
  const isDivided = normalization === "group" || normalization === "batch";
  const hasOthers =
    settings.overlongMaximum !== undefined || (settings.klIn === "reward" && settings.klCoefficient > 0);
  const isLost = compares && isDivided && !hasOthers;
  const key = "rewardNormalization";
  return [
    [
      rewardNormalization !== "none" && isLost,
      {
        key,
        reason: `is ${rewardNormalization}, which changes nothing: with advantages ${advantages} and normalization ${normalization} they are divided by their deviation anyway`,
        help: "Remove it, or set normalization to none.",
      },
    ],
    [
      rewardNormalization === "standardize" && compares && !isLost,
      {
        key,
        reason: `is standardize, but advantages is ${advantages}, which takes a mean away anyway`,
        help: "Use scale.",
      },
    ],
    [
      comparesTurns(settings) && rewardClip !== undefined,
      {
        key: "rewardClip",
        reason: "clips what whole trajectories earned, but with credit turn what turns earned is compared",
        help: "Remove it, or set credit to trajectory.",
      },
    ],
  ];
}
