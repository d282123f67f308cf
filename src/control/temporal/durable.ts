import { Context } from "@temporalio/activity";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { errorOfLostFolder } from "../../base/files/marked-folder.ts";
import { instruments } from "../../base/telemetry/instruments.ts";
import { activityFailure } from "./activity-failure.ts";

/**
 * Ms between heartbeats. The SDK sends the first at once, and holds the next ones back for eight seconds. So the first
 * one should come after the first report.
 */
const heartbeatInterval = 5000;

/** Reports what an activity waits for; undefined when it no longer waits. */
export type Report = (waiting: string | undefined) => void;

/**
 * Turns a function into an activity. The activity sends heartbeats while it works, so that a dead worker is noticed.
 * Its errors of the table become failures with their code as the type. If the run's folder is gone, the failure is
 * STORE_NOT_READABLE, and the server retries the activity. `work` receives a signal that aborts when the
 * activity is cancelled, and `report`, whose text the heartbeats contain.
 */
export function durable<Input, Result>(
  work: (input: Input, signal: AbortSignal, report: Report) => Promise<Result>,
): (input: Input) => Promise<Result> {
  const { activitySeconds, waitSeconds, running } = instruments();
  return async (input) => {
    const context = Context.current();
    const started = performance.now();
    const activity = context.info.activityType;
    const waited = Date.now() - context.info.currentAttemptScheduledTimestampMs;
    waitSeconds.record(Math.max(0, waited) / 1000, { activity });
    running.add(1, { activity });
    let outcome = "completed";
    let reported: string | undefined;
    const timer = setInterval(() => context.heartbeat(reported), heartbeatInterval);
    const report: Report = (text) => {
      if (text !== undefined && text !== reported) context.heartbeat(text);
      reported = text;
    };
    try {
      return await work(input, context.cancellationSignal, report);
    } catch (cause) {
      outcome = "failed";
      const error = context.cancellationSignal.aborted ? cause : errorOfLostFolder(cause);
      throw isEverturnError(error) ? activityFailure(error) : error;
    } finally {
      clearInterval(timer);
      running.add(-1, { activity });
      activitySeconds.record((performance.now() - started) / 1000, { activity, outcome });
    }
  };
}
