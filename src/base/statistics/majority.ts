import { markedAnswer } from "../text/marked-answer.ts";
import { mean } from "./mean.ts";

/** A sample's answer, if it gave one, and whether it solved its task. */
export interface Vote {
  answer?: string | undefined;
  success: boolean;
}

/**
 * The probability that a task's most frequent answer is right (maj@k; Wang et al., "Self-consistency", 2022).
 * Answers with equally many votes are equally likely to win. Samples without an answer don't vote; 0 if none votes.
 */
export function majorityShare(samples: readonly Vote[], groundTruth: string): number {
  const votes = new Map<string, number[]>();
  for (const { answer, success } of samples) {
    if (answer === undefined) continue;
    const key = votedAnswer(answer, groundTruth);
    votes.set(key, [...(votes.get(key) ?? []), Number(success)]);
  }
  const most = Math.max(0, ...[...votes.values()].map(({ length }) => length));
  return mean([...votes.values()].filter(({ length }) => length === most).map(mean));
}

/** The answer that a text votes for: the one that it marks, as the rewards read it, or else its last line. */
export function votedAnswer(text: string, groundTruth: string): string {
  const answer = markedAnswer(text, groundTruth)?.text ?? text.trim().split("\n").at(-1) ?? "";
  return answer.replace(/\s+/g, " ").trim().toLowerCase();
}
