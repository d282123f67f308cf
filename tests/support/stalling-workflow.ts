import { type ActivityOptions, condition, scheduleActivity } from "@temporalio/workflow";

/** What a workflow of a test waits for. */
export interface Stalling {
  /** The activity that it schedules, and its options. */
  activity?: string;
  options?: ActivityOptions;
  /** Each of its tasks fails. */
  throws?: string;
}

/** Waits for an activity, or forever. */
export async function trajectory({ activity, options, throws }: Stalling): Promise<void> {
  if (throws !== undefined) throw new Error(throws); // fails the task, not the workflow
  if (activity === undefined) return condition(() => false);
  await scheduleActivity(activity, [activity], { startToCloseTimeout: "1 hour", ...options });
}
