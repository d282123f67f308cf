import { distance } from "fastest-levenshtein";

/** Longer words are not compared, which would be slow, because they can't be misspelled names. */
const longestWord = 200;

/**
 * The candidate that `word` most likely means: spelled alike, or in another case style. Undefined if there is none.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > longestWord) return undefined;
  const scored = candidates.map((candidate) => ({ candidate, score: mistakes(bare(word), bare(candidate)) }));
  const best = scored.sort((a, b) => a.score - b.score)[0];
  return best !== undefined && best.score <= Math.max(1, Math.floor(word.length / 3))
    ? best.candidate
    : undefined;
}

/** The typing errors between two words. Two swapped neighbors count as one, unlike in the Levenshtein distance. */
function mistakes(word: string, other: string): number {
  const swapped = Array.from(
    { length: Math.max(0, word.length - 1) },
    (_, at) => word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2),
  );
  return swapped.includes(other) ? 1 : distance(word, other);
}

function bare(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, "");
}

const longestList = 16;

/** “Did you mean …?”, with the list of candidates if it is short. `what` names the candidates. */
export function suggestion(word: string, candidates: readonly string[], what: string): string {
  const match = nearest(word, candidates);
  const question = match === undefined ? [] : [`Did you mean “${match}”?`];
  const list =
    candidates.length > 0 && candidates.length <= longestList ? [`${what}: ${candidates.join(", ")}.`] : [];
  return [...question, ...list].join(" ");
}
