import type { TokenSequence } from "./batch.ts";
import { byGroup } from "./group-advantages.ts";
import { promptOf } from "./token-passes.ts";

/**
 * Divides samples, each of one or more sequences, into at most `count` portions with about the same number of tokens.
 * Returns the numbers of the samples of each portion, in ascending order. Samples of one prompt stay together as far as
 * possible, because their common beginning is computed once per pass. Deterministic.
 */
export function portionsOf(samples: readonly (readonly TokenSequence[])[], count: number): number[][] {
  const prompts = samples.map(([first]) => promptOf(first));
  const lengths = samples.map((rows) => rows.reduce((sum, { tokens }) => sum + tokens.length, 0));
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const portions = Array.from({ length: count }, (): number[] => []);
  let start = 0;
  for (const index of [...byGroup([...samples.keys()], prompts).values()].flat()) {
    const length = lengths[index]!;
    portions[Math.floor((count * (start + length / 2)) / total)]!.push(index);
    start += length;
  }
  return portions.filter(({ length }) => length > 0).map((portion) => portion.sort((a, b) => a - b));
}
