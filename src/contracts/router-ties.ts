/**
 * Near ties in the routing of a mixture of experts: the last expert chosen for a token was barely likelier than the
 * first one not chosen. Other rounding may choose differently there. Each tie has three numbers: the token's position,
 * the layer and the expert. Rollout routing replay (arXiv 2510.11370) keeps all choices. Keeping only near ties takes
 * less space, and a router that has learned since then can choose as it learned.
 */
export type RouterTies = readonly number[];

/** A tie by its parts. */
export interface RouterTie {
  position: number;
  layer: number;
  expert: number;
}

/** Splits ties into their parts. */
export function tiesOf(ties: RouterTies = []): RouterTie[] {
  return Array.from({ length: ties.length / 3 }, (_, at) => {
    const [position, layer, expert] = ties.slice(3 * at, 3 * at + 3);
    return { position: position!, layer: layer!, expert: expert! };
  });
}

/** Returns the ties at positions from `from` up to but not including `end`, moved by `by`. */
export function tiesBetween(ties: RouterTies = [], from: number, end: number, by = 0): number[] {
  const found: number[] = [];
  for (let at = 0; at < ties.length; at += 3) {
    const position = ties[at]!;
    if (position >= from && position < end) found.push(position + by, ties[at + 1]!, ties[at + 2]!);
  }
  return found;
}
