/**
 * How many tokens a row of `count` new ones is padded to when it is read: a single row of scores takes another kernel
 * than several, whose sums differ in their last bits.
 */
export function readLength(count: number): number {
  return Math.max(2, count);
}
