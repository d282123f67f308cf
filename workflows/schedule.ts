import { type ActivityOptions, scheduleActivity, scheduleLocalActivity } from "@temporalio/workflow";
import { type Activities, activityRoles } from "../src/contracts/activity-roles.ts";
import type { Queues } from "../src/contracts/trajectory.ts";

/** A worker that is silent for longer loses its activity to another. */
export const heartbeatTimeout = "10s";

const defaults = {
  startToCloseTimeout: "30 minutes",
  retry: { initialInterval: "200ms", backoffCoefficient: 2, maximumInterval: "10s", maximumAttempts: 20 },
} as const;

/** Whether the worker that runs the workflows also serves `role`: what is quick can then be done on the spot. */
export function isServedHere(role: keyof Queues, queues: Queues): boolean {
  return queues[role] === queues.orchestration;
}

interface ScheduleOptions {
  /** At most 400 bytes, shown in the UI. */
  summary?: string;
  /** It takes less time than its way through the server: a local activity, if this worker serves its queue. */
  isQuick?: boolean;
}

/** Schedules one of Everturn's own activities on its queue. */
export function schedule<Name extends keyof Activities>(
  queues: Queues,
  name: Name,
  input: Parameters<Activities[Name]>[0],
  options?: ScheduleOptions,
): ReturnType<Activities[Name]>;
export function schedule(
  queues: Queues,
  name: keyof Activities,
  input: unknown,
  { summary, isQuick = false }: ScheduleOptions = {},
): Promise<unknown> {
  const options = { ...defaults, ...(summary === undefined ? {} : { summary }) };
  if (isQuick && isServedHere(activityRoles[name], queues))
    return scheduleLocalActivity(name, [input], options);
  const remote: ActivityOptions = { ...options, heartbeatTimeout, taskQueue: queues[activityRoles[name]] };
  return scheduleActivity(name, [input], remote);
}
