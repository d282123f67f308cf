import type { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { ExecutionSettings } from "../../contracts/plan.ts";
import type { Failure } from "../../contracts/recorded-call.ts";
import type { Key } from "../../run/store/key.ts";
import type { Store } from "../../run/store/store.ts";
import { callFailure } from "./call-failure.ts";
import { createRate, type Rate } from "./rate.ts";
import { createSlots, type Slots } from "./slots.ts";
import type { ToolHost } from "./tool-host.ts";

/** A tool or a reward manager that is called on a host with a limited number of attempts. */
export interface Service {
  host: ToolHost;
  slots: Slots | undefined;
  rate: Rate | undefined;
  maximumAttempts: number;
  /** The error when its attempts are spent. */
  gaveUp(times: string, reason: string, cause: unknown): EverturnError;
}

/** Opens a service with `settings`. */
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
  /** Called with what the call waits for. Undefined when it no longer waits. */
  onWait: (reason: string | undefined) => void;
}

/**
 * Does `work` once the service's host is up and has room, and records its failures. Returns the number of
 * executions. Throws the errors of the work, the error of `gaveUp` when the attempts are spent,
 * TOOL_HOST_DOWN, or the signal's reason.
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
    const said = defined<Failure>({
      at: new Date().toISOString(),
      attempt,
      ...failure,
      part,
    });
    await addCallFailure(failures, failed.length, isLast ? { ...said, isLast } : said);
    if (!isLast) throw error;
    throw gaveUp(attempts === 1 ? "once" : `${attempts} times`, failure.reason, error);
  }
}

/** The record of a call's failed executions, numbered from 1. */
interface FailureJournal {
  store: Pick<Store, "read" | "record">;
  keyOf: (failure: number) => Key<Failure>;
  /** The reward that failed, if several score a trajectory. Each has its own budget. */
  part?: string | undefined;
}

/**
 * Returns the failed executions of a call, of all its budgets. Temporal's attempts are not used for this
 * count, because a dead worker must not cost the tool an attempt.
 */
async function callFailures({ store, keyOf }: FailureJournal): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (;;) {
    const failure = await store.read(keyOf(failures.length + 1));
    if (failure === undefined) return failures;
    failures.push(failure);
  }
}

/** How many of the failures count against the budget of the next execution. */
function failuresOfBudget(failures: readonly Failure[]): number {
  return failures.length - (failures.findLastIndex(({ isLast }) => isLast === true) + 1);
}

/** Adds a failure after the `known` ones, and after those that other attempts have added since. */
async function addCallFailure(
  { store, keyOf }: FailureJournal,
  known: number,
  failure: Failure,
): Promise<void> {
  for (let number = known + 1; ; number++) {
    if ((await store.record(keyOf(number), failure)) === failure) return;
  }
}
