import { type ActivityOptions, scheduleActivity, scheduleLocalActivity } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import { type Activities, activityRoles } from "../src/contracts/activity-roles.ts";
import type { Queues, RetrySettings } from "../src/contracts/trajectory.ts";

/** A worker that sends no heartbeat for this long loses its activity to another. */
export const heartbeatTimeout = "10s";

const defaults = {
  startToCloseTimeout: "30 minutes",
  retry: { initialInterval: "200ms", backoffCoefficient: 2, maximumInterval: "10s", maximumAttempts: 20 },
} as const;

/**
 * The maximum number of attempts in addition to the plugin's own, for workers that died or that do not hold
 * its state.
 */
const lostWorkers = 50;

/**
 * Returns the options of an activity that calls a plugin. Such an activity limits each execution by the
 * plugin's time-out and counts the plugin's failures itself. Temporal's own limits would be wrong here: a
 * call may wait longer for its turn or for a host that is down, and a dead worker must not cost the plugin an
 * attempt.
 */
export function boundedItself(retry: RetrySettings) {
  const maximumAttempts = retry.maximumAttempts + lostWorkers;
  return { startToCloseTimeout: "24 hours", retry: { ...retry, maximumAttempts } } as const;
}

/**
 * Whether the worker that runs the workflows also serves `role` and can therefore do quick work on the spot.
 */
export function isServedHere(role: keyof Queues, queues: Queues): boolean {
  return queues[role] === queues.orchestration;
}

/**
 * Milliseconds within which the worker that holds a tool's state must accept a call. Its heartbeat has the
 * same limit.
 */
const answerTime = 10_000;
/** The maximum for a busy worker, which might end in the meantime. */
const longestAnswerTime = 60_000;

/**
 * Milliseconds to wait for a worker that still holds a tool's state after `waited` ms: the same time again.
 */
export function answerTimeAfter(waited: number): number {
  return Math.min(Math.max(answerTime, waited), longestAnswerTime);
}

/**
 * Adapts `options` to the queue of the worker that holds a tool's state. No other worker serves this queue. A
 * worker that stops sending heartbeats is not tried again. The server calls this failure
 * "TemporalTimeout:Heartbeat".
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
  /**
   * The activity takes less time than a round trip to the server. It is local if this worker serves its
   * queue.
   */
  isQuick?: boolean;
  /** The queue of the one worker that must take the activity. */
  holder?: string;
  /**
   * Retries for activities that limit their executions and count their failures themselves. Default: 20
   * attempts of 30 minutes.
   */
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
