import type { SelectedTask } from "../src/contracts/activities.ts";
import type { RunSettings } from "../src/contracts/run.ts";
import type { Queues, TrajectoryInput, TrajectoryPlace } from "../src/contracts/trajectory.ts";

/** The input of one trajectory of a step or an evaluation. */
export function trajectoryInput(
  { id, task }: SelectedTask,
  place: Omit<TrajectoryPlace, "id" | "task">,
  policyVersion: number,
  settings: Pick<RunSettings, "seed" | "sampling" | "loop" | "tools">,
  queues: Queues,
): TrajectoryInput {
  const { seed, sampling, loop, tools } = settings;
  const identified = { ...place, task: id, id: `${place.run}/${place.stage}/${id}/${place.sample}` };
  return { place: identified, task, policyVersion, seed, sampling, loop, tools, queues };
}
