import type { Segment } from "../contracts/generated/segment.ts";
import type { TrainingTrajectory } from "../contracts/trainer.ts";

/**
 * Joins a trajectory's segments into flat token arrays: mask 1 and a log-probability, as drawn, for action tokens only. They end
 * with the last action token: what follows trains nothing, and may be an observation that the model has no room for.
 * A turn without tokens (there was no room for an action) has no place in `turnRewards`.
 */
export function trainingTrajectory(
  identity: Pick<TrainingTrajectory, "id" | "group" | "reward" | "turnRewards">,
  segments: Segment[],
): TrainingTrajectory {
  const tokens: number[] = [];
  const mask: number[] = [];
  const logprobs: number[] = [];
  for (const segment of segments) {
    const isAction = segment.origin === "action";
    const recorded = segment.samplingLogprobs ?? segment.logprobs;
    segment.tokens.forEach((token, index) => {
      tokens.push(token);
      mask.push(isAction ? 1 : 0);
      logprobs.push(isAction ? (recorded?.[index] ?? Number.NaN) : 0);
    });
  }
  const end = mask.lastIndexOf(1) + 1;
  const { turnRewards, ...identified } = identity;
  const turns = segments.filter(({ origin, tokens }) => origin === "action" && tokens.length > 0).length;
  return {
    ...identified,
    ...(turnRewards === undefined ? {} : { turnRewards: turnRewards.slice(0, turns) }),
    ...{ tokens: tokens.slice(0, end), mask: mask.slice(0, end), logprobs: logprobs.slice(0, end) },
  };
}
