import { defined } from "../../base/records/defined.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { Generation } from "../../contracts/policy.ts";
import { tiesBetween } from "../../contracts/router-ties.ts";

/**
 * An action in the store's form. Of its tokens' three log-probabilities, it keeps those at the sampling temperature
 * if that is neither 1 nor 0, and the sampler's own if the draw was restricted beyond rounding. Of the routers'
 * ties, those of the first `before` context tokens belong to earlier actions.
 */
export function actionSegment(
  { text, tokens, logprobs, temperedLogprobs, samplingLogprobs, routerTies }: Generation,
  place: { previous: string | null; policyVersion: number; before: number },
  temperature: number,
): Segment {
  const hasTemperature = temperature !== 0 && temperature !== 1;
  const isRestricted = temperature !== 0 && differ(temperedLogprobs, samplingLogprobs);
  // The last token before the action was only read now, not when it was sampled.
  const ties = tiesBetween(routerTies, Math.max(0, place.before - 1), Number.POSITIVE_INFINITY);
  return defined({
    previous: place.previous,
    origin: "action",
    text,
    tokens,
    logprobs,
    temperedLogprobs: hasTemperature ? temperedLogprobs : undefined,
    samplingLogprobs: isRestricted ? samplingLogprobs : undefined,
    routerTies: ties.length > 0 ? ties : undefined,
    policyVersion: place.policyVersion,
  });
}

function differ(ones: readonly number[], others: readonly number[]): boolean {
  return ones.some((one, index) => Math.abs(one - (others[index] ?? 0)) > 1e-5);
}
