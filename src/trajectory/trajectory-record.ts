import type { ScoreTrajectoryInput } from "../contracts/activities.ts";
import type { TrajectoryRecord } from "../contracts/generated/trajectory.ts";

/** How a trajectory ended. */
export type Ending = Pick<TrajectoryRecord, "outcome" | "reward" | "success"> &
  Partial<Pick<TrajectoryRecord, "answer" | "failure">>;

/** The record of a finished trajectory, as it is kept in the trajectory store. */
export function trajectoryRecord(
  input: Pick<
    ScoreTrajectoryInput,
    "place" | "task" | "turns" | "policyVersion" | "head" | "tokens" | "startedAt"
  >,
  ending: Ending,
): TrajectoryRecord {
  const { place, task, turns, policyVersion, head, tokens, startedAt } = input;
  const { id, run, stage, step, sample } = place;
  return {
    ...{ id, run, stage, step, sample, taskId: place.task, task, head, tokens },
    policyVersions: turns.map(() => policyVersion),
    turns,
    ...ending,
    startedAt: new Date(startedAt).toISOString(),
    seconds: (Date.now() - startedAt) / 1000,
  };
}
