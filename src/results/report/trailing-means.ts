/** The mean of each value and up to `count` − 1 values before it. */
export function trailingMeans(values: readonly number[], count: number): number[] {
  return values.map((_, index) => {
    const recent = values.slice(Math.max(0, index + 1 - count), index + 1);
    return recent.reduce((sum, value) => sum + value, 0) / recent.length;
  });
}
