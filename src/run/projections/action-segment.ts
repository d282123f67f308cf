import { defined } from "../../base/records/defined.ts";
import type { Segment } from "../../contracts/generated/segment.ts";
import type { Generation } from "../../contracts/policy.ts";
import { tiesBetween } from "../../contracts/router-ties.ts";

/**
 * An action as the store keeps it. Of the three log-probabilities of its tokens, the one at the sampling temperature is
 * kept where that is neither 1 nor 0, the sampler's own where the draw was restricted beyond rounding. Of routers' ties,
 * those of the first `before` tokens of its context are those of actions before.
 */
export function actionSegment(
  { text, tokens, logprobs, temperedLogprobs, samplingLogprobs, routerTies }: Generation,
  place: { previous: string | null; policyVersion: number; before: number },
  temperature: number,
): Segment {
  const hasTemperature = temperature !== 0 && temperature !== 1;
  const isRestricted = temperature !== 0 && differ(temperedLogprobs, samplingLogprobs);
  // The last token before was not read as it was sampled.
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
