/** The standard normal distribution's 97.5 % quantile. */
const z = 1.959963984540054;

/**
 * The 95 % interval of a share measured on `count` tasks (Wilson, "Probable inference, the law of succession, and
 * statistical inference", 1927); all of [0, 1] for no tasks.
 */
export function shareInterval(share: number, count: number): [low: number, high: number] {
  if (count === 0) return [0, 1];
  const centre = share + z ** 2 / (2 * count);
  const spread = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  const scale = 1 + z ** 2 / count;
  // At the ends, center and spread are equal except for rounding.
  return [share === 0 ? 0 : (centre - spread) / scale, share === 1 ? 1 : (centre + spread) / scale];
}
