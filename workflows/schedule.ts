import { type ActivityOptions, scheduleActivity, scheduleLocalActivity } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import { type Activities, activityRoles } from "../src/contracts/activity-roles.ts";
import type { Queues, RetrySettings } from "../src/contracts/trajectory.ts";

/** A worker that is silent for longer loses its activity to another. */
export const heartbeatTimeout = "10s";

const defaults = {
  startToCloseTimeout: "30 minutes",
  retry: { initialInterval: "200ms", backoffCoefficient: 2, maximumInterval: "10s", maximumAttempts: 20 },
} as const;

/** Attempts that the plugin did not fail, at most: workers that died, or that do not hold its state. */
const lostWorkers = 50;

/**
 * Of activities that call a plugin: these bound each execution by its time-out and count its failures, for what waits
 * for its turn or for a host that is down takes longer, and a worker that dies costs the plugin no attempt.
 */
export function boundedItself(retry: RetrySettings) {
  const maximumAttempts = retry.maximumAttempts + lostWorkers;
  return { startToCloseTimeout: "24 hours", retry: { ...retry, maximumAttempts } } as const;
}

/** Whether the worker that runs the workflows also serves `role`: what is quick can then be done on the spot. */
export function isServedHere(role: keyof Queues, queues: Queues): boolean {
  return queues[role] === queues.orchestration;
}

/** Milliseconds in which the worker that holds a tool's state takes what it is asked; a heartbeat has as many. */
const answerTime = 10_000;
/** For one that is busy, at most: it might end meanwhile. */
const longestAnswerTime = 60_000;

/** Milliseconds for the holder of a tool's state that was `waited` for, ms, and holds it still: as many again. */
export function answerTimeAfter(waited: number): number {
  return Math.min(Math.max(answerTime, waited), longestAnswerTime);
}

/**
 * `options` for the own queue of the worker that holds a tool's state. Nobody else can take what it does not, and one that goes
 * silent over an activity is not asked again ("TemporalTimeout:Heartbeat" is what the server calls that).
 */
export function atHolder(
  options: ActivityOptions,
  taskQueue: string,
  scheduleToStartTimeout = answerTime,
): ActivityOptions {
  const retry = { ...options.retry, nonRetryableErrorTypes: ["TemporalTimeout:Heartbeat"] };
  return { ...options, taskQueue, scheduleToStartTimeout, retry };
}

interface ScheduleOptions {
  /** At most 400 bytes, shown in the UI. */
  summary?: string;
  /** It takes less time than its way through the server: a local activity, if this worker serves its queue. */
  isQuick?: boolean;
  /** The own queue of the worker that it is for. */
  holder?: string;
  /** Of what bounds its executions and counts its failures itself; default: 20 attempts of 30 minutes. */
  retry?: RetrySettings;
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
  { summary, isQuick = false, holder, retry }: ScheduleOptions = {},
): Promise<unknown> {
  const bounds = retry === undefined ? defaults : boundedItself(retry);
  const options = defined<typeof bounds & { summary?: string }>({ ...bounds, summary });
  if (isQuick && isServedHere(activityRoles[name], queues))
    return scheduleLocalActivity(name, [input], options);
  const remote: ActivityOptions = { ...options, heartbeatTimeout, taskQueue: queues[activityRoles[name]] };
  return scheduleActivity(name, [input], holder === undefined ? remote : atHolder(remote, holder));
}
