import type { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ExecutionSettings } from "../../contracts/plan.ts";
import { callFailure } from "./call-failure.ts";
import { addCallFailure, callFailures, type FailureJournal, failuresOfBudget } from "./call-failures.ts";
import type { ToolHost } from "./host.ts";
import { createRate, type Rate } from "./rate.ts";
import { createSlots, type Slots } from "./slots.ts";

/** What is called on a host within a budget of attempts: a tool, or the reward manager. */
export interface Service {
  host: ToolHost;
  slots: Slots | undefined;
  rate: Rate | undefined;
  maximumAttempts: number;
  /** What is said when its attempts are spent. */
  gaveUp(times: string, reason: string, cause: unknown): EverturnError;
}

/** A service that is called as `settings` say. */
export function openService(settings: ExecutionSettings, host: ToolHost, gaveUp: Service["gaveUp"]): Service {
  const { concurrency, rate, retry } = settings;
  return {
    host,
    slots: concurrency === undefined ? undefined : createSlots(concurrency),
    rate: rate === undefined ? undefined : createRate(rate),
    maximumAttempts: retry.maximumAttempts,
    gaveUp,
  };
}

interface Options {
  /** Where its failures are counted. */
  failures: FailureJournal;
  attempt: number;
  signal: AbortSignal;
  /** Told what the call waits for; undefined when it waits no longer. */
  onWait: (reason: string | undefined) => void;
}

/**
 * Does `work` once the service's host is up and there is room, and counts its failures; says how many executions it
 * took. Throws what the work throws, what `gaveUp` says when the attempts are spent, TOOL_HOST_DOWN, the signal's
 * reason.
 */
export async function callService<Answer>(
  { host, slots, rate, maximumAttempts, gaveUp }: Service,
  work: () => Promise<Answer>,
  { failures, attempt, signal, onWait }: Options,
): Promise<{ answer: Answer; attempts: number }> {
  const failed = await callFailures(failures);
  const { part } = failures;
  const attempts = failuresOfBudget(failed.filter((one) => one.part === part)) + 1;
  try {
    return { answer: await host.call(work, { slots, rate, signal, onWait }), attempts };
  } catch (error) {
    const failure = callFailure(error);
    if (failure === undefined) throw error;
    const isLast = attempts >= maximumAttempts;
    const said = { at: new Date().toISOString(), attempt, ...failure, ...(part && { part }) };
    await addCallFailure(failures, failed.length, isLast ? { ...said, isLast } : said);
    if (!isLast) throw error;
    throw gaveUp(attempts === 1 ? "once" : `${attempts} times`, failure.reason, error);
  }
}
