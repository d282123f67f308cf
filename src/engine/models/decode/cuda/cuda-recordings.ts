/** The recorded passes on a card, each with a number. */
export interface CudaRecordings {
  /**
   * Counts a pass, identified by all of its inputs and outputs. Returns its number once it has occurred often enough.
   */
  numberOf(run: string): number | undefined;
}

/** Recording a pass takes about as long as this many passes without. */
const runsBefore = 8;

/** The most recordings. Each exists as long as its session. */
const mostRecordings = 64;

/** Creates recordings, initially none. */
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
