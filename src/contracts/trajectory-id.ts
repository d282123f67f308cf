import type { TrajectoryPlace } from "./trajectory.ts";

/** Returns the id of the trajectory at a place: `run/stage/task/sample`. `trajectoryOf` reads it. */
export function trajectoryId({
  run,
  stage,
  task,
  sample,
}: Pick<TrajectoryPlace, "run" | "stage" | "task" | "sample">): string {
  return `${run}/${stage}/${task}/${sample}`;
}
