import type { Task } from "../../contracts/generated/task.ts";
import type { ResolvedReward } from "../../contracts/plan.ts";

/** The rewards that score a task: those for its data source, and those for all sources. */
export function taskRewards<Reward extends Pick<ResolvedReward, "dataSources">>(
  rewards: readonly Reward[],
  { data_source: source }: Pick<Task, "data_source">,
): Reward[] {
  return rewards.filter(({ dataSources }) => dataSources === undefined || dataSources.includes(source));
}

/** Whether a reward compares the trajectories of a group instead of scoring each alone. */
export function isOfGroups({ manifest }: Pick<ResolvedReward, "manifest">): boolean {
  return manifest.reward?.group === true;
}
