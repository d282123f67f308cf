import { batchIndices, endlessOrder } from "../../base/random/batch-indices.ts";
import { sharedOut } from "../../base/random/shared-out.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { Plan } from "../../contracts/plan.ts";

/** The part of tasks that drawing uses: only each one's data source. */
export type DrawnFrom = readonly Pick<Task, "data_source">[];

/**
 * Returns the rows of a step's training tasks, without those that the plan leaves out. The seed shuffles
 * them, and no task repeats within an epoch. If the pipeline mixes data sources, each source is shuffled by
 * itself and has its share. Tasks that replace others come from a shuffle of their own.
 */
export function stepIndices(
  { rollout, dataset, seed }: Pick<Plan, "rollout" | "dataset" | "seed">,
  tasks: DrawnFrom,
  step: number,
  replacement?: { round: number; count: number },
): number[] {
  const size = rollout.batchSize / rollout.groupSize;
  const purpose = replacement === undefined ? "tasks" : `tasks of round ${replacement.round}`;
  const draws = { size, number: step - 1, seed, purpose };
  const leftOut = new Set(dataset.leftOut?.train);
  const rows = [...tasks.keys()].filter((row) => !leftOut.has(row));
  const indices =
    dataset.mix === undefined
      ? batchIndices({ ...draws, length: rows.length }).map((at) => rows[at] ?? 0)
      : mixedIndices(tasks, rows, dataset.mix, draws);
  return indices.slice(0, replacement?.count);
}

/** Draws mixed tasks. Each step's shares follow `mix` as closely as whole tasks allow. */
function mixedIndices(
  tasks: DrawnFrom,
  drawn: readonly number[],
  mix: Readonly<Record<string, number>>,
  { size, number, seed, purpose }: { size: number; number: number; seed: number; purpose: string },
): number[] {
  const rows = rowsBySource(tasks, drawn);
  const parts = Object.entries(mix).map(([source, weight]) => {
    const own = rows.get(source) ?? [];
    const order = endlessOrder({ length: own.length, seed, purpose: `${purpose}/${source}` });
    return { weight, row: (draw: number) => own[order(draw)] ?? 0 };
  });
  const weights = parts.map(({ weight }) => weight);
  return sharedOut(weights, number * size, (number + 1) * size).map(
    ({ part, nth }) => parts[part]?.row(nth) ?? 0,
  );
}

/** The drawable rows of each data source, in their order. */
function rowsBySource(tasks: DrawnFrom, drawn: readonly number[]): Map<string, number[]> {
  const rows = new Map<string, number[]>();
  for (const row of drawn) {
    const source = tasks[row]?.data_source ?? "";
    const known = rows.get(source);
    if (known === undefined) rows.set(source, [row]);
    else known.push(row);
  }
  return rows;
}
