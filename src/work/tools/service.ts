import type { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { ExecutionSettings } from "../../contracts/plan.ts";
import type { Failure } from "../../contracts/recorded-call.ts";
import type { Key } from "../../run/store/key.ts";
import type { Store } from "../../run/store/store.ts";
import { callFailure } from "./call-failure.ts";
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

/** Where the failed executions of a call are kept, the first one as 1. */
interface FailureJournal {
  store: Pick<Store, "read" | "record">;
  keyOf: (failure: number) => Key<Failure>;
  /** Of a score by several rewards: which of them it is; each has a budget of its own. */
  part?: string | undefined;
}

/**
 * The failed executions of a call, of all its budgets. They are counted here and not by Temporal's attempts: a worker
 * that died costs the tool nothing.
 */
async function callFailures({ store, keyOf }: FailureJournal): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (;;) {
    const failure = await store.read(keyOf(failures.length + 1));
    if (failure === undefined) return failures;
    failures.push(failure);
  }
}

/** How many of them are of the budget that the next execution has. */
function failuresOfBudget(failures: readonly Failure[]): number {
  return failures.length - (failures.findLastIndex(({ isLast }) => isLast === true) + 1);
}

/** Adds one after the `known` ones, and after those that other attempts have added since. */
async function addCallFailure(
  { store, keyOf }: FailureJournal,
  known: number,
  failure: Failure,
): Promise<void> {
  for (let number = known + 1; ; number++) {
    if ((await store.record(keyOf(number), failure)) === failure) return;
  }
}
