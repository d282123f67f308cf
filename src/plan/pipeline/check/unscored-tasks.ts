import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import type { ResolvedReward } from "../../../contracts/plan.ts";
import { taskRewards } from "../../../plugin/registry/task-rewards.ts";
import { placeOfRow } from "../read/row-problems.ts";
import { namedSets, type TaskSets } from "../read/task-sets.ts";

/** The tasks that no reward with a weight scores: each data source once, at its first task. */
export function unscoredTaskProblems(rewards: readonly ResolvedReward[], sets: TaskSets): Problem[] {
  const weighed = rewards.filter(({ weight }) => weight !== 0);
  return namedSets(sets).flatMap(([set, tasks]) => {
    const unscored = tasks.filter((task) => taskRewards(weighed, task).length === 0);
    const sources = [...new Set(unscored.map((task) => task.data_source))];
    return sources.map((source): Problem => {
      const rows = unscored.filter((task) => task.data_source === source);
      const place = placeOfRow(rows[0], set);
      const count = rows.length === 1 ? "a task" : `${rows.length} tasks`;
      const params = { at: place.text, source, tasks: `${count} of ${set}` };
      return { place, error: new EverturnError("TASKS_UNSCORED", params) };
    });
  });
}
