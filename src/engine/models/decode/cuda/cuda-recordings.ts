/** The recorded passes on a card, each with a number. */
export interface CudaRecordings {
  /**
   * Counts a pass, identified by all of its inputs and outputs. Returns its number once it has occurred often enough.
   */
  numberOf(pass: string): number | undefined;
}

/** Recording a pass takes about as long as this many passes without. */
const passesBefore = 8;

/** The most recordings. Each exists as long as its session. */
const mostRecordings = 64;

/** Creates recordings, initially none. */
export function createCudaRecordings(): CudaRecordings {
  const numbers = new Map<string, number>();
  const counts = new Map<string, number>();
  return {
    numberOf(pass) {
      const known = numbers.get(pass);
      if (known !== undefined || numbers.size >= mostRecordings) return known;
      const count = (counts.get(pass) ?? 0) + 1;
      counts.delete(pass);
      if (count <= passesBefore) {
        counts.set(pass, count);
        const [oldest] = counts.keys();
        if (counts.size > mostRecordings && oldest !== undefined) counts.delete(oldest);
        return undefined;
      }
      numbers.set(pass, numbers.size + 1);
      return numbers.size;
    },
  };
}
