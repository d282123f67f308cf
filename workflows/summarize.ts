import type { TrajectorySummary } from "../src/contracts/rollout.ts";
import type { TrajectoryResult } from "../src/contracts/trajectory.ts";

/** What a step keeps of a trajectory's result. */
export function summarize(result: TrajectoryResult): TrajectorySummary {
  const { task: _task, turns: _turns, turnCount, ...kept } = result;
  return { ...kept, turns: turnCount };
}
