import { setImmediate as nextTurn } from "node:timers/promises";
import type { Key } from "./key.ts";
import type { Store } from "./store.ts";

/**
 * Records at the numbers 1, 2, 3 …, which are never removed. Readers find each by asking for the next number, so
 * nothing depends on a listing, which may lag.
 */
export type Row<Value> = (number: number) => Key<Value>;

/** How many records are read before other work of the process runs. */
const together = 50;

/** The records of a row after its first `after`, in order. Unreadable ones are reported as usual and left out. */
export async function readRow<Value>(
  store: Pick<Store, "read" | "has">,
  row: Row<Value>,
  after = 0,
): Promise<Value[]> {
  const values: Value[] = [];
  for (let number = after + 1; ; number++) {
    const value = await store.read(row(number));
    if (value !== undefined) values.push(value);
    else if (!(await store.has(row(number)))) return values;
    if (number % together === 0) await nextTurn();
  }
}

/**
 * Adds the record that `rest` derives from all current records to a row; nothing if it returns undefined. If writers
 * race for a place, one wins and the others derive theirs again. Equal values count as one. Throws the same errors
 * as `record`.
 */
export async function addToRow<Value>(
  store: Pick<Store, "read" | "record">,
  row: Row<Value>,
  rest: (standing: readonly Value[]) => Value | undefined,
  options?: Parameters<Store["record"]>[2],
): Promise<void> {
  const standing: Value[] = [];
  for (let number = 1; ; number++) {
    let found = await store.read(row(number));
    if (found === undefined) {
      const value = rest(standing);
      if (value === undefined) return;
      found = await store.record(row(number), value, options);
      if (found === value) return;
    }
    standing.push(found);
  }
}

/**
 * Adds a record to the end of a row without reading the others. If writers race for a place, one wins and the others
 * take the next. Equal values count as one. Throws the same errors as `record`.
 */
export async function appendToRow<Value>(
  store: Pick<Store, "has" | "record">,
  row: Row<Value>,
  value: Value,
): Promise<void> {
  let number = (await lengthOfRow(store, row)) + 1;
  while ((await store.record(row(number), value)) !== value) number += 1;
}

/** The number of records in a row, found by asking for few of them. It has at least `known`. */
export async function lengthOfRow(store: Pick<Store, "has">, row: Row<unknown>, known = 0): Promise<number> {
  let last = known;
  let beyond = known + 1;
  while (await store.has(row(beyond))) {
    last = beyond;
    beyond = known + 2 * (beyond - known);
  }
  while (beyond - last > 1) {
    const middle = Math.floor((last + beyond) / 2);
    if (await store.has(row(middle))) last = middle;
    else beyond = middle;
  }
  return last;
}
