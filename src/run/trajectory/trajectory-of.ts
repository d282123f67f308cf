import type { TrajectoryPlace } from "../../contracts/trajectory.ts";

/** The place that a trajectory's id, `run/stage/task/sample`, refers to. */
export function trajectoryOf(id: string): Pick<TrajectoryPlace, "run" | "stage" | "task" | "sample"> {
  const [run = "", stage = "", task = "", sample = ""] = id.split("/");
  return { run, stage, task, sample: Number(sample) };
}
