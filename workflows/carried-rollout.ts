import { defined } from "../src/base/records/defined.ts";
import type {
  CarriedRollout,
  OpenGroup,
  RolloutProgress,
  TrajectorySummary,
} from "../src/contracts/rollout.ts";
import { trajectoryId } from "../src/contracts/trajectory-id.ts";

/** The number of trajectories whose results are read at once. An activity's result is limited to 2 MiB. */
const page = 500;

/** Returns the part of `state` that continues as new: names without results, which the run's folder has. */
export function carriedOf({ nextGroup, open, leftOut, committed }: RolloutProgress): CarriedRollout {
  return defined({
    nextGroup,
    open: open.map(({ results, ...group }) => ({
      ...group,
      ended: group.samples.filter((sample) => results[sample] !== undefined),
    })),
    leftOut: leftOut.map(({ results, ...group }) => ({
      ...group,
      trajectories: results.map(({ trajectory }) => trajectory),
    })),
    committed,
  });
}

/** Restores the state that a run carried over. `read` returns the results of trajectories in their order. */
export async function restored(
  run: string,
  { nextGroup, open, leftOut, committed }: CarriedRollout,
  read: (trajectories: string[]) => Promise<TrajectorySummary[]>,
): Promise<RolloutProgress> {
  const idOf = ({ stage, task }: Pick<OpenGroup, "stage" | "task">, sample: number) =>
    trajectoryId({ run, stage, task, sample });
  const names = [
    ...open.flatMap((group) => group.ended.map((sample) => idOf(group, sample))),
    ...leftOut.flatMap(({ trajectories }) => trajectories),
  ];
  const results = new Map<string, TrajectorySummary>();
  for (let from = 0; from < names.length; from += page) {
    for (const result of await read(names.slice(from, from + page))) results.set(result.trajectory, result);
  }
  return defined({
    nextGroup,
    open: open.map(({ ended, ...group }) => ({
      ...group,
      results: Object.fromEntries(
        ended.flatMap((sample) => {
          const result = results.get(idOf(group, sample));
          return result === undefined ? [] : [[sample, result]];
        }),
      ),
    })),
    leftOut: leftOut.map(({ trajectories, ...group }) => ({
      ...group,
      results: trajectories.flatMap((trajectory) => results.get(trajectory) ?? []),
    })),
    committed,
  });
}
