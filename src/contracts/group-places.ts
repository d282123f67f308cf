import type { GroupPlace } from "./rollout.ts";
import { stepStage } from "./stages.ts";

/**
 * Returns the groups of a step: its tasks, each with the numbers of its `groupSize` samples. If a task was drawn twice
 * because the step spans two epochs, the numbering continues, so that no two trajectories share an id.
 */
export function groupPlaces(step: number, tasks: string[], groupSize: number): GroupPlace[] {
  const drawn = new Map<string, number>();
  return tasks.map((task) => {
    const first = drawn.get(task) ?? 0;
    drawn.set(task, first + groupSize);
    return {
      step,
      stage: stepStage(step),
      task,
      samples: Array.from({ length: groupSize }, (_, index) => first + index),
    };
  });
}
