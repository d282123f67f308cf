/** Numbers by name. */
export type Metrics = Record<string, number>;

/** The mean of each metric over those that have it; undefined if there is none. */
export function meanMetrics(all: readonly (Metrics | undefined)[]): Metrics | undefined {
  const values = new Map<string, number[]>();
  for (const [name, value] of all.flatMap((metrics) => Object.entries(metrics ?? {}))) {
    const known = values.get(name) ?? [];
    known.push(value);
    values.set(name, known);
  }
  if (values.size === 0) return undefined;
  return Object.fromEntries([...values].map(([name, numbers]) => [name, mean(numbers)]));
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}
