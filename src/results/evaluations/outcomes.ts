import { ahead } from "../../base/async/ahead.ts";
import { defined } from "../../base/records/defined.ts";
import type { Task } from "../../contracts/generated/task.ts";
import type { Trajectory } from "../../contracts/generated/trajectory.ts";
import type { EvaluationRecord } from "../../contracts/run.ts";
import { taskId } from "../../plan/tasks/run-tasks.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type ActionCounts, countActions } from "../../run/projections/action-numbers.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import type { TrajectoryName } from "../../run/store/keys.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";

/** The outcomes of a task in an evaluation. */
export interface TaskOutcomes {
  id: string;
  task: Task;
  samples: Pick<Trajectory, "success" | "reward" | "answer">[];
}

/** The outcomes of an evaluation's trajectories. */
export interface EvaluationOutcomes {
  /** In the order of the tasks. */
  tasks: TaskOutcomes[];
  /** Of the finished trajectories. */
  actions: ActionCounts[];
  places: TrajectoryName[];
}

/** The part of an evaluation's record that names its trajectories. */
type Evaluated = Pick<EvaluationRecord, "name" | "tasks" | "samples">;

/** The trajectories of an evaluation, in the order of its tasks. */
export function evaluatedTrajectories({ name, tasks, samples = 1 }: Evaluated): TrajectoryName[] {
  return Array.from({ length: tasks * samples }, (_, index) => ({
    stage: name,
    task: taskId(Math.floor(index / samples)),
    sample: index % samples,
  }));
}

/** Reads an evaluation's trajectories. Those with unreadable records are missing. */
export async function readOutcomes(
  { store }: Pick<OpenRun, "store">,
  evaluation: Evaluated,
): Promise<EvaluationOutcomes> {
  const outcomes = new Map<string, TaskOutcomes>();
  const actions: ActionCounts[] = [];
  const places: TrajectoryName[] = [];
  const names = evaluatedTrajectories(evaluation);
  for await (const record of ahead(names, objectsAtOnce, (one) => readTrajectoryRecord(store, one))) {
    if (record === undefined) continue;
    const { taskId: id, task, success, reward, answer, outcome } = record;
    const known = outcomes.get(id) ?? { id, task, samples: [] };
    known.samples.push(defined({ success, reward, answer }));
    outcomes.set(id, known);
    if (outcome === "left-out") continue;
    actions.push(countActions(record));
    places.push({ stage: record.stage, task: id, sample: record.sample });
  }
  return { tasks: [...outcomes.values()], actions, places };
}
