/** The characters that Python treats as whitespace between words. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python splits at them.
const spaces = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/u;
const punctuation = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/g;
const articles = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/**
 * Splits an answer into words as SQuAD's official script does: in lower case, without punctuation and
 * articles.
 */
export function squadWords(answer: string): string[] {
  const bare = answer.toLowerCase().replace(punctuation, "").replace(articles, " ");
  return bare.split(spaces).filter((word) => word !== "");
}

/**
 * Returns exact match and F1 of an answer, each the best over the gold answers, as in SQuAD 2.0's official
 * script.
 */
export function squadScores(given: string, golds: readonly string[]): { em: number; f1: number } {
  const words = squadWords(given);
  const gold = golds.map(squadWords).filter((one) => one.length > 0);
  const scores = (gold.length > 0 ? gold : [[]]).map((one) => scoresOf(words, one));
  return { em: Math.max(...scores.map(({ em }) => em)), f1: Math.max(...scores.map(({ f1 }) => f1)) };
}

function scoresOf(given: readonly string[], gold: readonly string[]): { em: number; f1: number } {
  const em = given.join(" ") === gold.join(" ") ? 1 : 0;
  if (given.length === 0 || gold.length === 0) return { em, f1: em };
  const left = new Map<string, number>();
  for (const word of gold) left.set(word, (left.get(word) ?? 0) + 1);
  const same = given.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  }).length;
  if (same === 0) return { em, f1: 0 };
  const [precision, recall] = [same / given.length, same / gold.length];
  return { em, f1: (2 * precision * recall) / (precision + recall) };
}
