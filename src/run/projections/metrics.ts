/** Numbers by name. */
export type Metrics = Record<string, number>;

/** Counts of cut texts, which are 0 if absent. */
const counts = ["cutActions", "cutObservations"];

/**
 * The mean of each metric over those that have it, or for counts of cut texts over all; undefined if there are none.
 */
export function meanMetrics(all: readonly (Metrics | undefined)[]): Metrics | undefined {
  const values = new Map<string, number[]>();
  for (const [name, value] of all.flatMap((metrics) => Object.entries(metrics ?? {}))) {
    const known = values.get(name) ?? [];
    known.push(value);
    values.set(name, known);
  }
  if (values.size === 0) return undefined;
  const of = (name: string, numbers: number[]) => (counts.includes(name) ? all.length : numbers.length);
  return Object.fromEntries([...values].map(([name, numbers]) => [name, sum(numbers) / of(name, numbers)]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
