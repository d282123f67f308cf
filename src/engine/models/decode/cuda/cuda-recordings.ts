/** Which runs on a card are recorded, each under a number. */
export interface CudaRecordings {
  /** Counts a run, by all that it reads and writes; its number once it has come often enough. */
  numberOf(run: string): number | undefined;
}

/** To record a run takes about as long as so many runs without. */
const runsBefore = 8;

/** A recording stays as long as its session: more are not made. */
const mostRecordings = 64;

/** Nothing recorded yet. */
export function createCudaRecordings(): CudaRecordings {
  const numbers = new Map<string, number>();
  const counts = new Map<string, number>();
  return {
    numberOf(run) {
      const known = numbers.get(run);
      if (known !== undefined || numbers.size >= mostRecordings) return known;
      const count = (counts.get(run) ?? 0) + 1;
      counts.delete(run);
      if (count <= runsBefore) {
        counts.set(run, count);
        const [oldest] = counts.keys();
        if (counts.size > mostRecordings && oldest !== undefined) counts.delete(oldest);
        return undefined;
      }
      numbers.set(run, numbers.size + 1);
      return numbers.size;
    },
  };
}
