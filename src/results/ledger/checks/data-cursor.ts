import type { Finding, Reservation } from "../../../contracts/ledger.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { stepOf } from "../../../contracts/stages.ts";
import { taskId } from "../../../plan/tasks/run-tasks.ts";
import { type DrawnFrom, stepIndices } from "../../../plan/tasks/step-indices.ts";

/**
 * Checks that each step got the tasks that the data cursor draws for it, and each of its rounds the right
 * replacements. Both depend only on the seed, and are drawn here again from the training set. Steps up to `decided`
 * must have all of them.
 */
export function checkDataCursor(
  plan: Plan,
  reservations: readonly Reservation[],
  { tasks, decided }: { tasks: DrawnFrom; decided: number },
): Finding[] {
  return [...tasksByRound(reservations)].flatMap(([key, reserved]) => {
    const [step = 0, round = 1] = key.split("/").map(Number);
    const count = plan.rollout.batchSize / plan.rollout.groupSize;
    const replacement = round === 1 ? undefined : { round, count };
    const expected = stepIndices(plan, tasks, step, replacement).map(taskId);
    const strange = without(reserved, expected);
    const missing = round === 1 && step <= decided ? without(expected, reserved) : [];
    const report = (problem: string): Finding => ({ check: "data-cursor", subject: `step ${step}`, problem });
    return [
      ...strange.map((task) => report(`has ${task}, which does not follow from the seed ${plan.seed}`)),
      ...missing.map((task) => report(`lacks ${task}, which follows from the seed ${plan.seed}`)),
    ];
  });
}

/** The tasks reserved for each `step/round`. A group that was reserved twice counts once. */
function tasksByRound(reservations: readonly Reservation[]): Map<string, string[]> {
  const groups = new Map<string, Map<string, string>>();
  for (const { stage, round = 1, groups: reserved } of reservations) {
    const step = stepOf(stage);
    if (step === undefined) continue;
    const known = groups.get(`${step}/${round}`) ?? new Map<string, string>();
    for (const { task, samples } of reserved) known.set(`${task}/${samples.join()}`, task);
    groups.set(`${step}/${round}`, known);
  }
  return new Map([...groups].map(([key, known]) => [key, [...known.values()]]));
}

/** The elements that are in `all` more often than in `others`. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return all.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
