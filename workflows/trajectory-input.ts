import { defined } from "../src/base/records/defined.ts";
import type { GroupPlace } from "../src/contracts/rollout.ts";
import type {
  GenerationSettings,
  Queues,
  TaskSource,
  TrajectoryInput,
  TrajectoryPlace,
} from "../src/contracts/trajectory.ts";
import { trajectoryId } from "../src/contracts/trajectory-id.ts";

/** The settings with which trajectories are generated. */
interface Generation {
  run: string;
  policyVersion: number;
  settings: GenerationSettings;
  queues: Queues;
  /** The set that contains their tasks. */
  source: TaskSource;
  quickTurns?: boolean;
  newest?: boolean;
}

/** The inputs of a group's trajectories. */
export function inputsOf(group: GroupPlace, generation: Generation): TrajectoryInput[] {
  const { stage, step, task } = group;
  return group.samples.map((sample) => trajectoryInput({ stage, step, task, sample }, generation));
}

/** The input of one trajectory. It contains the task's name, not the task. */
export function trajectoryInput(
  place: Omit<TrajectoryPlace, "id" | "run">,
  { run, policyVersion, settings, queues, source, quickTurns = false, newest = false }: Generation,
): TrajectoryInput {
  const { seed, sampling, loop, loops, format, tools, reward, limits } = settings;
  return defined({
    place: { ...place, run, id: trajectoryId({ ...place, run }) },
    source,
    policyVersion,
    seed,
    sampling,
    loop,
    tools,
    reward,
    limits,
    queues,
    quickTurns,
    newest,
    loops,
    format,
  });
}
