/** A share as a percentage with `digits` decimals: `97.3 %`. Zero and one are `0 %` and `100 %`. */
export function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(share === 0 || share === 1 ? 0 : digits)} %`;
}

/** A share as the shortest percentage, for axes: `7 %`, `2.5 %`. */
export function shortPercent(share: number): string {
  return `${number(share * 100)} %`;
}

/** A number with three significant digits, for people: `0.0123`, `1,280`, `1.2e-6`. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && size < 1e-3) return value.toExponential(1);
  if (size >= 1000) return grouped(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

/** A reward with two decimals: `0.50`. A reward that these would show as 0 has two significant digits: `4.8e-7`. */
export function formatReward(reward: number): string {
  return reward !== 0 && Math.abs(reward) < 0.005 ? reward.toExponential(1) : reward.toFixed(2);
}

/** A count with thousands separators. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** A duration given in seconds: `40 ms`, `4.1 s`, `2 min 05 s`, `1 h 12 min`. */
export function duration(seconds: number): string {
  if (seconds < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** A count with its noun: `1 turn`, `2 turns`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
