import type { Task } from "../../contracts/generated/task.ts";
import { successRate } from "./measures.ts";
import type { TaskOutcomes } from "./outcomes.ts";

/** A task with its success rate, the share of its samples that solved it. */
export interface RatedTask {
  task: Task;
  rate: number;
}

/**
 * The tasks of an evaluation, the easiest first, and equally easy ones in their order. Each has its
 * `extra_info.success_rate`.
 */
export function ratedTasks(outcomes: readonly TaskOutcomes[]): RatedTask[] {
  const rated = outcomes.map((outcome) => {
    const rate = successRate(outcome);
    const { task } = outcome;
    return { rate, task: { ...task, extra_info: { ...task.extra_info, success_rate: rate } } };
  });
  return rated.toSorted((one, other) => other.rate - one.rate);
}
