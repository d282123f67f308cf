import type { Key } from "./key.ts";
import type { Store } from "./store.ts";

/**
 * Records at the numbers 1, 2, 3 …, none of which is ever removed: all that is in it is found by asking for the next, so
 * that nothing rests on a listing, which may lag.
 */
export type Row<Value> = (number: number) => Key<Value>;

/** What stands in a row after its first `after`, in order. What can't be read is told, as ever, and left out. */
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
  }
}

/**
 * Adds to a row what `rest` makes of all that stands in it by then; nothing if that is undefined. So of writers that
 * race for a place one has it and the others look again; equal values are one. Throws as `record` does.
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
 * Adds to a row, after all that stands in it by then, which it does not read. Of writers that race for a place one has it
 * and the others take the next; equal values are one. Throws as `record` does.
 */
export async function appendToRow<Value>(
  store: Pick<Store, "has" | "record">,
  row: Row<Value>,
  value: Value,
): Promise<void> {
  let number = (await lengthOfRow(store, row)) + 1;
  while ((await store.record(row(number), value)) !== value) number += 1;
}

/** How many records a row has, by asking for few of them; it has `known` at least. */
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
