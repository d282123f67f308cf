/**
 * The merges of a SentencePiece vocabulary, which stores none: every pair of tokens that makes a token, by `rank` of
 * that token (the lowest merges first), then the longer left part first, as transformers' `generate_merges` has it.
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
