/**
 * How many tokens a row of `count` new ones is padded to when it is read: a single row of scores, alone or left over
 * of whole sixty-fours, takes another kernel than several, whose sums differ in their last bits.
 */
export function readLength(count: number): number {
  return count % 64 === 1 ? count + 1 : count;
}
