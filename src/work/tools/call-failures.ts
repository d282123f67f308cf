import type { Failure } from "../../contracts/recorded-call.ts";
import type { Key } from "../../run/store/key.ts";
import type { Store } from "../../run/store/store.ts";

/** Where the failed executions of a call are kept, the first one as 1. */
export interface FailureJournal {
  store: Pick<Store, "read" | "record">;
  keyOf: (failure: number) => Key<Failure>;
  /** Of a score by several rewards: which of them it is; each has a budget of its own. */
  part?: string | undefined;
}

/**
 * The failed executions of a call, of all its budgets. They are counted here and not by Temporal's attempts: a worker
 * that died costs the tool nothing.
 */
export async function callFailures({ store, keyOf }: FailureJournal): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (;;) {
    const failure = await store.read(keyOf(failures.length + 1));
    if (failure === undefined) return failures;
    failures.push(failure);
  }
}

/** How many of them are of the budget that the next execution has. */
export function failuresOfBudget(failures: readonly Failure[]): number {
  return failures.length - (failures.findLastIndex(({ isLast }) => isLast === true) + 1);
}

/** Adds one after the `known` ones, and after those that other attempts have added since. */
export async function addCallFailure(
  { store, keyOf }: FailureJournal,
  known: number,
  failure: Failure,
): Promise<void> {
  for (let number = known + 1; ; number++) {
    if ((await store.record(keyOf(number), failure)) === failure) return;
  }
}
