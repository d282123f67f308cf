import type { Task } from "../../../contracts/generated/task.ts";

/** The sets of tasks that a plan is checked with. */
export type TaskSets = Record<"train" | "validation" | "taskFile", readonly Task[]>;

/** The sets, each with its name in messages. */
export function namedSets({
  train,
  validation,
  taskFile,
}: TaskSets): [name: string, tasks: readonly Task[]][] {
  return [
    ["dataset.train", train],
    ["dataset.validation", validation],
    ["the task file", taskFile],
  ];
}
