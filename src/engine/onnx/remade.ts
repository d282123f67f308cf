import type { FloatValue, TapeEntry } from "./graph.ts";

/**
 * The steps of a tape as its backward pass sees them: outputs that are cheap to make (`remake`) are made again where a rule first wants them,
 * and are the same for all that want them (rematerialization; arXiv 2205.05198 calls it selective recomputation).
 */
export function remadeSteps(tape: readonly TapeEntry[]): (step: TapeEntry) => TapeEntry {
  const cheap = new Map(tape.flatMap((step) => (step.remake ? [[step.output, step]] : [])));
  const remade = new Map<FloatValue, Pick<TapeEntry, "output" | "saved">>();
  const latest = (value: FloatValue): FloatValue => {
    const step = cheap.get(value);
    if (!step?.remake) return value;
    const known = remade.get(value) ?? step.remake(step.floats.map(latest));
    remade.set(value, known);
    return known.output;
  };
  return (step) => ({ ...step, floats: step.floats.map(latest), ...remade.get(step.output) });
}
