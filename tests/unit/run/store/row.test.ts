import { expect, test } from "vitest";
import { keyOf } from "../../../../src/run/store/key.ts";
import { openRunStore } from "../../../../src/run/store/open-run-store.ts";
import { addToRow, lengthOfRow, type Row, readRow } from "../../../../src/run/store/row.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const store = openRunStore(temporaryFolder());
const row =
  <Value>(name: string): Row<Value> =>
  (number) =>
    keyOf(name, number);

test("a row's length is found without reading it all", async () => {
  const long = row<number>("long");
  const asked: number[] = [];
  const has: typeof store.has = (key) => {
    asked.push(1);
    return store.has(key);
  };
  for (let length = 0; length <= 40; length++) {
    expect(await lengthOfRow({ has }, long)).toBe(length);
    await store.record(long(length + 1), length + 1);
  }
  asked.length = 0;
  expect(await lengthOfRow({ has }, long)).toBe(41);
  expect(asked.length).toBeLessThan(14);
  expect(await readRow(store, long, 39)).toEqual([40, 41]);
});

test("who adds is told all that stands, and again whenever another was faster", async () => {
  const raced = row<{ by: number; after: number }>("raced");
  const add = (by: number) => addToRow(store, raced, (standing) => ({ by, after: standing.length }));
  await Promise.all(Array.from({ length: 20 }, (_, by) => add(by)));
  const all = await readRow(store, raced);
  expect(all.map(({ after }) => after)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(new Set(all.map(({ by }) => by)).size).toBe(20);
  await addToRow(store, raced, () => undefined);
  expect(await lengthOfRow(store, raced)).toBe(20);
});
