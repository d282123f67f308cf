/**
 * Derives the merges of a SentencePiece vocabulary, which stores none. They are all pairs of tokens that form a token,
 * sorted by that token's `rank` (lowest first) and then by the longer left part, like transformers' `generate_merges`.
 */
export function deriveMerges(tokens: readonly string[], rank: (token: number) => number): [string, string][] {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const found: { left: string; right: string; length: number; rank: number }[] = [];
  for (const [token, id] of ids) {
    let left = "";
    let length = 0;
    for (const character of token) {
      left += character;
      length += 1;
      const right = token.slice(left.length);
      if (ids.has(left) && ids.has(right)) found.push({ left, right, length, rank: rank(id) });
    }
  }
  found.sort((a, b) => a.rank - b.rank || b.length - a.length);
  return found.map(({ left, right }) => [left, right]);
}
