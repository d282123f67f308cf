import type { Segment } from "../contracts/generated/segment.ts";
import type { TrainingTrajectory } from "../contracts/trainer.ts";

/**
 * Joins a trajectory's segments into flat token arrays: mask 1 and log-probabilities for action tokens only, those of the
 * policy at `temperature` (1 for greedy actions) and, if any action was drawn under restrictions, the sampler's own. They
 * end with the last action token: what follows trains nothing, and may be an observation that the model has no room for.
 * A turn without tokens (there was no room for an action) has no place in `turnRewards`.
 */
export function trainingTrajectory(
  identity: Pick<TrainingTrajectory, "id" | "group" | "reward" | "turnRewards">,
  segments: Segment[],
  temperature: number,
): TrainingTrajectory {
  const columns = segments.map((segment) => columnsOf(segment, temperature));
  const mask = columns.flatMap((column) => column.mask);
  const end = mask.lastIndexOf(1) + 1;
  const { turnRewards, ...identified } = identity;
  const turns = segments.filter(({ origin, tokens }) => origin === "action" && tokens.length > 0).length;
  const isRestricted = columns.some(({ logprobs, samplingLogprobs }) => samplingLogprobs !== logprobs);
  const samplingLogprobs = columns.flatMap((column) => column.samplingLogprobs).slice(0, end);
  return {
    ...identified,
    ...(turnRewards === undefined ? {} : { turnRewards: turnRewards.slice(0, turns) }),
    tokens: segments.flatMap(({ tokens }) => tokens).slice(0, end),
    mask: mask.slice(0, end),
    logprobs: columns.flatMap(({ logprobs }) => logprobs).slice(0, end),
    ...(isRestricted ? { samplingLogprobs } : {}),
  };
}

/** A segment's mask and log-probabilities, a number a token each. */
function columnsOf(segment: Segment, temperature: number) {
  const { origin, tokens, temperedLogprobs, samplingLogprobs } = segment;
  if (origin !== "action") {
    const zeros = tokens.map(() => 0);
    return { mask: zeros, logprobs: zeros, samplingLogprobs: zeros };
  }
  const { logprobs: untempered = tokens.map(() => Number.NaN) } = segment;
  // At another temperature, actions of 0.3 and earlier have what they were drawn with, and nothing else.
  const logprobs = temperature === 1 ? untempered : (temperedLogprobs ?? samplingLogprobs ?? untempered);
  return { mask: tokens.map(() => 1), logprobs, samplingLogprobs: samplingLogprobs ?? logprobs };
}
