import type { GivenTask } from "../src/contracts/activities.ts";
import type { Task } from "../src/contracts/generated/task.ts";
import type { Message } from "../src/contracts/message.ts";
import type { TrajectoryInput } from "../src/contracts/trajectory.ts";
import { isServedHere, schedule } from "./schedule.ts";

/** The task of a trajectory. */
export interface TaskReader {
  /** Reads the task once. */
  read(): Promise<Task>;
  /** Returns the task for an activity. A local activity gets only its source and reads the task itself. */
  given(isLocal: boolean): Promise<GivenTask>;
  /** Called when an activity has read the task's prompt. */
  onPrompt(prompt: Message[]): void;
}

/** Returns a reader for the task that `input` names. Reading it calls `onPrompt` with its prompt. */
export function trajectoryTask(
  { place, source, queues }: TrajectoryInput,
  onPrompt: (prompt: Message[]) => void,
): TaskReader {
  let reading: Promise<Task> | undefined;

  async function load(): Promise<Task> {
    const options = { summary: place.task, isQuick: true };
    const task = await schedule(queues, "load-task", { place, source }, options);
    onPrompt(task.prompt);
    return task;
  }

  function read(): Promise<Task> {
    reading ??= load();
    return reading;
  }

  return { read, onPrompt, given: async (isLocal) => (isLocal ? { source } : { task: await read() }) };
}

/** Whether local activities generate the turns. The first of them reads the task. */
export function isGeneratedHere({ quickTurns, queues }: TrajectoryInput): boolean {
  return quickTurns && isServedHere("policy", queues);
}
