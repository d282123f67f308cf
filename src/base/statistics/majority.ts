import { markedAnswer } from "../text/marked-answer.ts";
import { mean } from "./estimate.ts";

/** What a sample answered, if it answered, and whether it solved its task. */
export interface Vote {
  answer?: string | undefined;
  success: boolean;
}

/**
 * How probable it is that the answer that most samples of a task gave is right (maj@k of Wang et al., "Self-consistency", 2022; of
 * answers with as many votes each is as probable). Samples without an answer do not vote; 0 if none does.
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

/** What votes of a text: the answer that it marks, as the rewards read it, or else its last line. */
export function votedAnswer(text: string, groundTruth: string): string {
  const answer = markedAnswer(text, groundTruth)?.text ?? text.trim().split("\n").at(-1) ?? "";
  return answer.replace(/\s+/g, " ").trim().toLowerCase();
}
