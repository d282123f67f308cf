import { expect, test } from "vitest";
import { type Outage, observeOutage, outagesOf } from "../../machines/outages.ts";

function counts(strikes: number): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { what } of outagesOf(strikes)) found[what] = (found[what] ?? 0) + 1;
  return found;
}

test("300 strikes come with five partitions and two restarts of each server, all before the last strike", () => {
  expect(counts(300)).toEqual({ partition: 5, "store restart": 2, "Temporal restart": 2 });
  for (const { after } of outagesOf(300)) expect(after).toBeLessThan(300);
});

test("a few strikes come with one of each", () => {
  expect(counts(12)).toEqual({ partition: 1, "store restart": 1, "Temporal restart": 1 });
  for (const { after } of outagesOf(12)) expect(after).toBeLessThan(12);
});

test("a run recovers from an outage by a record that was written after it", () => {
  const outage: Outage = { what: "partition", after: 1, time: 1000, over: 2000 };
  const file = (time: number) => ({ path: "", time, sha256: "", says: "" });
  observeOutage(outage, [file(1500)]);
  expect(outage.recovered).toBeUndefined();
  observeOutage(outage, [file(1500), file(2500)]);
  expect(outage.recovered).toBe(2500);
});
