import type { RunActivities } from "../src/contracts/activities.ts";
import type { Task } from "../src/contracts/generated/task.ts";
import type { ResolvedPlugin } from "../src/contracts/plan.ts";
import { loadDataset } from "../src/plugins/registry.ts";
import { batchIndices } from "../src/runs/batch-indices.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { sharedPromises } from "../src/runs/shared-promises.ts";
import { readTaskFile } from "../src/runs/task-file.ts";

/**
 * The tasks of a step (shuffled by the seed, no task twice in an epoch), those that replace some of them (from a
 * shuffle of their own), or those of an evaluation (in file order).
 */
export function selectTasks(openRun: (run: string) => Promise<OpenRun>): RunActivities["select-tasks"] {
  const loaded = sharedPromises<Task[]>();
  function load(use: ResolvedPlugin): Promise<Task[]> {
    const key = JSON.stringify([use.entry, use.config]);
    return loaded.get(key, async () => (await loadDataset(use)).load(use.config));
  }

  return async ({ run, step, evaluation, replacement }) => {
    const { plan } = await openRun(run);
    if (step === undefined) {
      const file = evaluation?.taskFile;
      const tasks = file === undefined ? await load(plan.dataset.validation) : await readTaskFile(file);
      return tasks.slice(0, evaluation?.tasks).map((task, index) => ({ id: taskId(index), task }));
    }
    const tasks = await load(plan.dataset.train);
    const size = plan.rollout.batchSize / plan.rollout.groupSize;
    const purpose = replacement === undefined ? "tasks" : `tasks of round ${replacement.round}`;
    const drawn = { length: tasks.length, size, number: step - 1, seed: plan.seed, purpose };
    const indices = batchIndices(drawn).slice(0, replacement?.count);
    return indices.flatMap((index) => {
      const task = tasks[index];
      return task === undefined ? [] : [{ id: taskId(index), task }];
    });
  };
}

function taskId(row: number): string {
  return `task-${String(row).padStart(5, "0")}`;
}
