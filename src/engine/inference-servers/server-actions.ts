import type { Generation } from "../../contracts/policy.ts";

/** Whether a server returned a log-probability for each of `count` tokens. Rounding may lift one slightly above 0. */
export function areLogProbabilities(numbers: readonly number[], count: number): boolean {
  return numbers.length === count && numbers.every((value) => Number.isFinite(value) && value <= 1e-6);
}

/**
 * Returns an action that a server sampled at temperature 1 or greedily, where the policy's own log-probabilities equal
 * those at the sampling temperature.
 */
export function serverAction(
  { tokens, logprobs, finishReason }: Pick<Generation, "tokens" | "logprobs" | "finishReason">,
  temperature: number,
): Omit<Generation, "text"> {
  const own = logprobs.map((value) => Math.min(0, value));
  return {
    tokens,
    logprobs: own,
    temperedLogprobs: own,
    samplingLogprobs: temperature === 0 ? own.map(() => 0) : own,
    finishReason,
  };
}
