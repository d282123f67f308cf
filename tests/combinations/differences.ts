import type { Outcome } from "./combination.ts";

/** Of numbers near zero so much counts as their size. */
const small = 0.1;

/** What the optimizer makes of a difference: numbers after an update differ more. */
const afterUpdates = 5;

/** Numbers of the steps that differ by more than the tolerance, by their size; and the gap, if it is above 1e-4. */
export function differences({ gap, metrics, expected }: Outcome, tolerance = 3e-4): string[] {
  const found = metrics.flatMap((step, index) => {
    const wanted = new Map(Object.entries(expected[index] ?? {}));
    const names = new Set([...Object.keys(step), ...wanted.keys()]);
    const measured = new Map(Object.entries(step));
    const allowed = tolerance * (index === 0 ? 1 : afterUpdates);
    return [...names].flatMap((name) => {
      const [value, other] = [Number(measured.get(name)), Number(wanted.get(name))];
      const isNear = Math.abs(value - other) <= allowed * Math.max(small, Math.abs(other));
      return isNear ? [] : [`step ${index + 1}: ${name} is ${value}, not ${other}`];
    });
  });
  return gap <= 1e-4 ? found : [`the gap is ${gap}`, ...found];
}
