import { join } from "node:path";
import { expect, test } from "vitest";
import { rowsOf } from "../../../../../src/run/projections/parquet-rows.ts";
import { endingOf } from "../../../../../src/run/projections/stored-records.ts";
import { openRows, writeRows } from "../../../../../src/run/trajectory/folded/parquet-file.ts";
import { anyTrajectory } from "../../../../support/any-trajectory.ts";
import { python, whyNoPython } from "../../../../support/parquet-readers.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const reason = await whyNoPython();

/** Each reader's rows, as JSON says them. */
const program = `
import json, sys
import duckdb, pandas

def plain(value):
    if value is None or value is pandas.NaT: return None
    if hasattr(value, "tolist"): value = value.tolist()
    if isinstance(value, float) and value != value: return None
    if hasattr(value, "isoformat"): return value.isoformat(timespec="milliseconds").split("+")[0] + "Z"
    if isinstance(value, dict): return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)): return [plain(one) for one in value]
    return value

path = sys.argv[1]
frame = pandas.read_parquet(path)
table = duckdb.sql(f"select * from '{path}'")
rewards = duckdb.sql(f"select origin, sum(len(tokens)) from '{path}' where mask = 1 group by origin").fetchall()
print(json.dumps({
    "pandas": [plain(row) for row in frame.astype(object).to_dict("records")],
    "duckdb": [dict(zip(table.columns, plain(row))) for row in table.fetchall()],
    "tokens": rewards,
}))
`;

test.skipIf(reason !== undefined)(
  `pandas and DuckDB read a step's file: every column of every row${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  async () => {
    const writer = writeRows(folder);
    for (let seed = 0; seed < 30; seed++) {
      const records = anyTrajectory(seed, { turns: 4, tokens: 20 });
      const ending = endingOf(records);
      if (ending !== undefined) writer.add(rowsOf(records, ending, { trainedStep: 3 }));
    }
    writer.finish();
    const rows = await (await openRows(folder)).read(0);
    const read = await python<Record<"pandas" | "duckdb", unknown[]> & { tokens: unknown }>(
      program,
      join(folder, "trajectories.parquet"),
    );
    const expected = JSON.parse(JSON.stringify(rows));
    expect(read.pandas).toEqual(expected);
    expect(read.duckdb).toEqual(expected);
    const sampled = rows.filter(({ mask }) => mask === 1).flatMap(({ tokens }) => tokens ?? []).length;
    expect(read.tokens).toEqual([["action", sampled]]);
  },
  300_000, // the first call installs the packages
);
