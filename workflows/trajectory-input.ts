import type { SelectedTask } from "../src/contracts/activities.ts";
import type { GroupPlace } from "../src/contracts/rollout.ts";
import type { RunSettings } from "../src/contracts/run.ts";
import type { Queues, TrajectoryInput, TrajectoryPlace } from "../src/contracts/trajectory.ts";

/** How a group's trajectories are generated. */
interface Generation {
  run: string;
  policyVersion: number;
  settings: Pick<RunSettings, "seed" | "sampling" | "loop" | "tools" | "reward" | "limits">;
  queues: Queues;
  quickTurns?: boolean;
  newest?: boolean;
}

/** The inputs of a group's trajectories. */
export function inputsOf(
  group: GroupPlace,
  selected: SelectedTask,
  generation: Generation,
): TrajectoryInput[] {
  const { run, policyVersion, settings } = generation;
  const place = { run, stage: group.stage, step: group.step };
  return group.samples.map((sample) =>
    trajectoryInput(selected, { ...place, sample }, policyVersion, settings, generation),
  );
}

/** The input of one trajectory of a step or an evaluation. */
export function trajectoryInput(
  { id, task }: SelectedTask,
  place: Omit<TrajectoryPlace, "id" | "task">,
  policyVersion: number,
  settings: Pick<RunSettings, "seed" | "sampling" | "loop" | "tools" | "reward" | "limits">,
  { queues, quickTurns = false, newest = false }: { queues: Queues; quickTurns?: boolean; newest?: boolean },
): TrajectoryInput {
  const { seed, sampling, loop, tools, reward, limits } = settings;
  const identified = { ...place, task: id, id: `${place.run}/${place.stage}/${id}/${place.sample}` };
  return {
    ...{ place: identified, task, policyVersion, seed, sampling, loop, tools, queues, quickTurns },
    ...(reward === undefined ? {} : { reward }),
    ...(limits === undefined ? {} : { limits }),
    ...(newest ? { newest } : {}),
  };
}
