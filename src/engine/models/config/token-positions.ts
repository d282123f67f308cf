import type { ImageEmbeddings } from "../../../contracts/image-tokens.ts";

/** The positions of a token in time, height and width. They are equal for text. */
export type TokenPosition = readonly [time: number, height: number, width: number];

/** Returns the positions of tokens, in which an image counts as its longer side, and the position after them. */
export function multimodalPositions(
  tokens: readonly number[],
  vocabulary: number,
  embeddings: ImageEmbeddings | undefined,
): { positions: TokenPosition[]; next: number } {
  let next = 0;
  const positions = tokens.map((token): TokenPosition => {
    if (token < vocabulary || !embeddings) {
      const position = next++;
      return [position, position, position];
    }
    const { number, down, across } = embeddings.place(token);
    const start = next;
    if (number === down * across - 1) next += Math.max(down, across);
    return [start, start + Math.floor(number / across), start + (number % across)];
  });
  return { positions, next };
}
