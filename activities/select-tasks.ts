import type { RunActivities, SelectedTask } from "../src/contracts/activities.ts";
import { reserve } from "../src/ledger/reservations.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { type RunTasks, stepIndices, taskId } from "../src/runs/run-tasks.ts";
import { readTaskFile } from "../src/runs/task-file.ts";

/**
 * The tasks of a step, those that replace some of them, or those of an evaluation (in file order), with their
 * trajectories reserved in the ledger.
 */
export function selectTasks(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["select-tasks"] {
  return async ({ run, step, stage, evaluation, replacement }) => {
    const { plan, folder } = await openRun(run);
    if (step === undefined) {
      const file = evaluation?.taskFile;
      const all = file === undefined ? await tasks.validation(plan) : await readTaskFile(file);
      const selected = all.slice(0, evaluation?.tasks).map((task, row) => ({ id: taskId(row), task }));
      const groups = selected.map(({ id }) => ({ task: id, samples: [0] }));
      if (evaluation !== undefined) await reserve(folder, { stage: evaluation.name, groups });
      return selected;
    }
    const all = await tasks.training(plan);
    const indices = stepIndices(plan, all.length, step, replacement);
    const selected = indices.flatMap((index): SelectedTask[] => {
      const task = all[index];
      return task === undefined ? [] : [{ id: taskId(index), task }];
    });
    if (stage !== undefined) {
      const ids = selected.map(({ id }) => id);
      const groups = reservedGroups(ids, plan.rollout.groupSize, replacement?.drawn ?? []);
      await reserve(folder, { stage, round: replacement?.round ?? 1, groups });
    }
    return selected;
  };
}

/** A task that was drawn before goes on counting its samples. */
function reservedGroups(ids: string[], groupSize: number, before: string[]) {
  return ids.map((task, index) => {
    const drawn = [...before, ...ids.slice(0, index)].filter((other) => other === task).length;
    return { task, samples: Array.from({ length: groupSize }, (_, sample) => drawn * groupSize + sample) };
  });
}
