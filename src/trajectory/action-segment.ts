import type { Segment } from "../contracts/generated/segment.ts";
import type { Generation } from "../contracts/policy.ts";

/**
 * An action as the store keeps it. Of the three log-probabilities of its tokens, the one at the sampling temperature is
 * kept where that is neither 1 nor 0, the sampler's own where the draw was restricted beyond rounding.
 */
export function actionSegment(
  { text, tokens, logprobs, temperedLogprobs, samplingLogprobs }: Generation,
  place: { previous: string | null; policyVersion: number },
  temperature: number,
): Segment {
  const hasTemperature = temperature !== 0 && temperature !== 1;
  const isRestricted = temperature !== 0 && differ(temperedLogprobs, samplingLogprobs);
  return {
    previous: place.previous,
    origin: "action",
    text,
    tokens,
    logprobs,
    ...(hasTemperature ? { temperedLogprobs } : {}),
    ...(isRestricted ? { samplingLogprobs } : {}),
    policyVersion: place.policyVersion,
  };
}

function differ(ones: readonly number[], others: readonly number[]): boolean {
  return ones.some((one, index) => Math.abs(one - (others[index] ?? 0)) > 1e-5);
}
