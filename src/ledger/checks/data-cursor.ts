import type { Finding, Reservation } from "../../contracts/ledger.ts";
import { batchIndices } from "../../runs/batch-indices.ts";
import { stepOf } from "../entries.ts";

/**
 * Whether each step was given the tasks that the data cursor gives it: a function of the seed alone, drawn here again.
 * `length`: tasks in the training set; `size`: tasks a step; `decided`: the last step whose groups were all admitted.
 */
export function checkDataCursor(
  reservations: readonly Reservation[],
  { length, size, seed, decided }: { length: number; size: number; seed: number; decided: number },
): Finding[] {
  const byStep = new Map<number, string[]>();
  for (const { stage, round = 1, groups } of reservations) {
    const step = stepOf(stage);
    if (step === undefined || round !== 1) continue;
    byStep.set(step, [...(byStep.get(step) ?? []), ...groups.map(({ task }) => task)]);
  }
  return [...byStep].flatMap(([step, reserved]) => {
    const indices = batchIndices({ length, size, number: step - 1, seed, purpose: "tasks" });
    const expected = indices.map((index) => `task-${String(index).padStart(5, "0")}`);
    const strange = without(reserved, expected);
    const missing = step <= decided ? without(expected, reserved) : [];
    const report = (problem: string): Finding => ({ check: "data-cursor", subject: `step ${step}`, problem });
    return [
      ...strange.map((task) => report(`has ${task}, which the seed ${seed} doesn't give it`)),
      ...missing.map((task) => report(`lacks ${task}, which the seed ${seed} gives it`)),
    ];
  });
}

/** What is in `all` more often than in `others`. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
