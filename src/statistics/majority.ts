import { lastBoxed } from "../text/last-boxed.ts";
import { mean } from "./estimate.ts";

/** What a sample answered, if it answered, and whether it solved its task. */
export interface Vote {
  answer?: string | undefined;
  success: boolean;
}

/**
 * How probable it is that the answer that most samples gave is right (maj@k of Wang et al., "Self-consistency", 2022; of
 * answers with as many votes each is as probable). Samples without an answer do not vote; 0 if none does.
 */
export function majorityShare(samples: readonly Vote[]): number {
  const votes = new Map<string, number[]>();
  for (const { answer, success } of samples) {
    if (answer === undefined) continue;
    const key = votedAnswer(answer);
    votes.set(key, [...(votes.get(key) ?? []), Number(success)]);
  }
  const most = Math.max(0, ...[...votes.values()].map(({ length }) => length));
  return mean([...votes.values()].filter(({ length }) => length === most).map(mean));
}

/** What of a text is the answer: the last `\boxed{…}`, `<answer>…</answer>`, what follows `####`, or else its last line. */
export function votedAnswer(text: string): string {
  const [marked] = [
    lastBoxed(text),
    last(text, /<answer>(.*?)<\/answer>/gs),
    last(text, /####([^\n]*)/g),
  ].filter((found) => found !== undefined);
  return (marked ?? text.trim().split("\n").at(-1) ?? "").replace(/\s+/g, " ").trim().toLowerCase();
}

function last(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}
