import { defined } from "../src/base/records/defined.ts";
import type { TrajectorySummary } from "../src/contracts/rollout.ts";
import type { TrajectoryResult } from "../src/contracts/trajectory.ts";
import { cut } from "./transcript.ts";

/** Longer reasons are cut, because one signal carries hundreds of results. */
const reasonBytes = 1_000;

/** The part of a trajectory's result that a step keeps. */
export function summarize(result: TrajectoryResult): TrajectorySummary {
  const { task: _task, turns: _turns, turnCount, failure, mistake, ...kept } = result;
  return defined({
    ...kept,
    turns: turnCount,
    failure: failure === undefined ? undefined : cut(failure, reasonBytes),
    mistake: mistake && { ...mistake, message: cut(mistake.message, 2 * reasonBytes) },
  });
}
