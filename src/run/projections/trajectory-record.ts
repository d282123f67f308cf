import { defined } from "../../base/records/defined.ts";
import type { EndedTrajectory } from "../../contracts/activities.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { Ended } from "./ended-turns.ts";

/** How a trajectory ended. */
export type Ending = Pick<Trajectory, "outcome" | "reward" | "success"> &
  Partial<Pick<Trajectory, "answer" | "failure" | "metrics">>;

/** The trajectory store's record of a finished trajectory. */
export function trajectoryRecord(
  ended: Pick<EndedTrajectory, "place" | "task" | "head" | "tokens" | "startedAt" | "origin">,
  {
    turns,
    policyVersions,
    turnRewards,
    metrics: measured,
  }: Pick<Ended, "turns" | "policyVersions"> & Partial<Ended>,
  ending: Ending,
): Trajectory {
  const { place, task, head, tokens, startedAt, origin } = ended;
  const { id, run, stage, step, sample } = place;
  const metrics = { ...measured, ...ending.metrics };
  return defined({
    id,
    run,
    stage,
    step,
    sample,
    taskId: place.task,
    task,
    head,
    tokens,
    policyVersions,
    turns,
    turnRewards,
    ...ending,
    metrics: Object.keys(metrics).length === 0 ? ending.metrics : metrics,
    origin,
    startedAt: new Date(startedAt).toISOString(),
    seconds: (Date.now() - startedAt) / 1000,
  });
}
