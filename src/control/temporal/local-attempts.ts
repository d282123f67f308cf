import { Context, type Info } from "@temporalio/activity";
import { ApplicationFailure } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import { grouped, roleOfActivity, shortReason, type Wait } from "./waits.ts";

/** Ms between two reports, and how long a local activity must have been in progress to be included. */
const interval = 2000;
const age = 5000;

/** Ms after a failure within which a local activity is retried, or never. */
const longestPause = 90_000;

/** The local activities of a worker, which the server does not know until they end. */
export interface LocalAttempts {
  /** Records when they begin, fail and end. */
  interceptor: ActivityInterceptorsFactory;
  close(): void;
}

interface Attempts {
  wait: Wait;
  /** When the newest attempt failed; absent while it is in progress. */
  failedAt?: number;
}

/** Reports the waiting local activities every two seconds, as long as there are some. */
export function localAttempts(tell: (waits: Wait[]) => void): LocalAttempts {
  const open = new Map<string, Attempts>();
  let hasTold = false;

  function report(): void {
    const now = Date.now();
    for (const [key, { failedAt }] of open) {
      if (failedAt !== undefined && now - failedAt > longestPause) open.delete(key);
    }
    const waits = [...open.values()].flatMap(({ wait }) => (now - wait.since >= age ? [wait] : []));
    if (waits.length > 0 || hasTold) tell(grouped(waits));
    hasTold = waits.length > 0;
  }

  function begun(key: string, info: Info): void {
    const { activityType: what, attempt, workflowExecution } = info;
    const since = open.get(key)?.wait.since ?? Date.now();
    const reason = open.get(key)?.wait.reason;
    const wait: Wait = defined({
      what,
      role: roleOfActivity(what),
      workflow: workflowExecution?.workflowId ?? "",
      count: 1,
      since,
      attempt,
      isUnclaimed: false,
      reason,
    });
    open.set(key, { wait });
  }

  function failed(key: string, { attempt, retryPolicy }: Info, error: unknown): void {
    const attempts = open.get(key);
    const isFinal = error instanceof ApplicationFailure && error.nonRetryable === true;
    if (
      attempts === undefined ||
      isFinal ||
      attempt >= (retryPolicy?.maximumAttempts || Number.POSITIVE_INFINITY)
    ) {
      open.delete(key);
      return;
    }
    attempts.failedAt = Date.now();
    attempts.wait.reason = shortReason(messageOf(error));
  }

  const timer = setInterval(report, interval);
  timer.unref();
  return {
    close: () => clearInterval(timer),
    interceptor: () => ({
      inbound: {
        execute: async (input, next) => {
          const { info } = Context.current();
          if (!info.isLocal) return next(input);
          const key = `${info.workflowExecution?.runId}/${info.activityId}`;
          begun(key, info);
          try {
            const result = await next(input);
            open.delete(key);
            return result;
          } catch (error) {
            failed(key, info, error);
            throw error;
          }
        },
      },
    }),
  };
}
