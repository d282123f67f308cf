import { defined } from "../src/base/records/defined.ts";
import type {
  CarriedRollout,
  OpenGroup,
  RolloutProgress,
  TrajectorySummary,
} from "../src/contracts/rollout.ts";
import { trajectoryId } from "../src/contracts/trajectory-id.ts";

/** Trajectories whose results are read at once: an activity's result may have 2 MiB. */
const page = 500;

/** What is carried over of `state`: names, and no results, which the run's folder has. */
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

/** The state of a run that was carried over; `read` gives what came of trajectories, in their order. */
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
