import type { SelectedTask } from "../src/contracts/activities.ts";
import type { RunSettings } from "../src/contracts/run.ts";
import type { Queues, TrajectoryInput, TrajectoryPlace } from "../src/contracts/trajectory.ts";

/**
 * The tasks of a step, each with the numbers of its `groupSize` samples. A task that was drawn twice (the step spans
 * two epochs) goes on counting, so that no two trajectories share an id.
 */
export function samplesOf(
  selected: SelectedTask[],
  groupSize: number,
): { selected: SelectedTask; sample: number }[] {
  const drawn = new Map<string, number>();
  return selected.flatMap((one) => {
    const first = drawn.get(one.id) ?? 0;
    drawn.set(one.id, first + groupSize);
    return Array.from({ length: groupSize }, (_, index) => ({ selected: one, sample: first + index }));
  });
}

/** The input of one trajectory of a step or an evaluation. */
export function trajectoryInput(
  { id, task }: SelectedTask,
  place: Omit<TrajectoryPlace, "id" | "task">,
  policyVersion: number,
  settings: Pick<RunSettings, "seed" | "sampling" | "loop" | "tools">,
  { queues, quickTurns = false }: { queues: Queues; quickTurns?: boolean },
): TrajectoryInput {
  const { seed, sampling, loop, tools } = settings;
  const identified = { ...place, task: id, id: `${place.run}/${place.stage}/${id}/${place.sample}` };
  return { place: identified, task, policyVersion, seed, sampling, loop, tools, queues, quickTurns };
}
