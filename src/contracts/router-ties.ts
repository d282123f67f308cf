/**
 * Where routers of a mixture of experts chose narrowly: the last expert that was chosen for a token was little likelier than the
 * first that was not. Sums that round otherwise may choose otherwise there. Three numbers each: the token's position,
 * the layer, the expert. (Rollout routing replay, arXiv 2510.11370, keeps all choices. These are few, and leave a router
 * that has learned since to choose as it has learned.)
 */
export type RouterTies = readonly number[];

/** A tie by its parts. */
export interface RouterTie {
  position: number;
  layer: number;
  expert: number;
}

/** Ties, taken apart. */
export function tiesOf(ties: RouterTies = []): RouterTie[] {
  return Array.from({ length: ties.length / 3 }, (_, at) => {
    const [position, layer, expert] = ties.slice(3 * at, 3 * at + 3);
    return { position: position!, layer: layer!, expert: expert! };
  });
}

/** Ties at positions from one up to another, moved by so many. */
export function tiesBetween(ties: RouterTies = [], from: number, end: number, by = 0): number[] {
  const found: number[] = [];
  for (let at = 0; at < ties.length; at += 3) {
    const position = ties[at]!;
    if (position >= from && position < end) found.push(position + by, ties[at + 1]!, ties[at + 2]!);
  }
  return found;
}
