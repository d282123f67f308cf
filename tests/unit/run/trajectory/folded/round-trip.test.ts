import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rebuilt } from "../../../../../src/run/projections/parquet-records.ts";
import type { Row } from "../../../../../src/run/projections/parquet-row.ts";
import { rowsOf } from "../../../../../src/run/projections/parquet-rows.ts";
import { segmentRef } from "../../../../../src/run/projections/segment-ref.ts";
import { endingOf, type StoredRecords } from "../../../../../src/run/projections/stored-records.ts";
import { openRows, writeRows } from "../../../../../src/run/trajectory/folded/parquet-file.ts";
import { anyTrajectory } from "../../../../support/any-trajectory.ts";

/** Writes the rows and gives what a reader of the file rebuilds. */
async function throughAFile(trajectories: readonly StoredRecords[]): Promise<StoredRecords[]> {
  const folder = await mkdtemp(join(tmpdir(), "everturn-rows-"));
  const writer = writeRows(folder);
  const places = trajectories.map((records) => {
    const ending = endingOf(records);
    if (ending === undefined) throw new Error("the trajectory has not ended");
    return writer.add(rowsOf(records, ending, { trainedStep: 3 }));
  });
  writer.finish();
  const opened = await openRows(folder);
  const read: Row[][] = [];
  for (let part = 0; part < opened.parts; part++) read.push(await opened.read(part));
  return places.map(({ part, from, rows }) => rebuilt((read[part] ?? []).slice(from, from + rows)));
}

test("the columns alone say how many observations were cut", () => {
  for (let seed = 0; seed < 20; seed++) {
    const records = anyTrajectory(seed, { turns: 4, tokens: 4 });
    const ending = endingOf(records);
    const rows = ending === undefined ? [] : rowsOf(records, ending, { trainedStep: 3 });
    const cut = ({ turns }: StoredRecords) => turns.map(({ recorded }) => recorded.cutObservations);
    expect(cut(rebuilt(rows.map((row) => ({ ...row, exact: null }))))).toEqual(cut(records));
  }
});

test("any trajectory that a store holds comes back from a step's file as it was", async () => {
  const trajectories = Array.from({ length: 120 }, (_, seed) =>
    anyTrajectory(seed, { turns: 6, tokens: 40 }),
  );
  const read = await throughAFile(trajectories);
  expect(read.length).toBe(120);
  for (const [index, records] of trajectories.entries()) {
    expect(read[index], `seed ${index}`).toStrictEqual(records);
    const heads = read[index]?.turns.map(({ recorded }) => segmentRef(recorded.action));
    expect(heads).toEqual(records.turns.map(({ recorded }) => recorded.head));
  }
});
