import type { DuckDBConnection } from "@duckdb/node-api";
import { ahead } from "../promises/ahead.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { objectsAtOnce } from "../store/at-once.ts";
import { foldedKey, recordedStepKey } from "../store/keys.ts";
import { lengthOfRow } from "../store/row.ts";
import { rowsFile } from "../trajectory/folded/parquet-file.ts";
import { listedTrajectories } from "../trajectory/listed-trajectories.ts";
import { trajectoryReader } from "../trajectory/reader.ts";
import { readTrajectoryRecord } from "../trajectory/trajectory-files.ts";
import { queryColumns } from "./columns.ts";
import { rowOf } from "./row-of.ts";

const columns = Object.entries(queryColumns);

/** Rows that are put in at once. */
const together = 500;

/** Puts the finished trajectories of a run into the table `trajectories`, of steps' files and of single records. */
export async function loadTrajectories(
  connection: DuckDBConnection,
  run: Pick<OpenRun, "store">,
): Promise<void> {
  const definitions = columns.map(([name, { type }]) => `${name} ${type}`).join(", ");
  await connection.run(`CREATE TABLE trajectories (${definitions}); CREATE TABLE single (${definitions})`);
  await loadSingle(connection, run); // first: what a step's file takes in meanwhile is found there
  await loadFolded(connection, run);
  await connection.run(
    `INSERT INTO trajectories FROM single WHERE trajectory NOT IN (SELECT trajectory FROM trajectories); DROP TABLE single`,
  );
}

async function loadFolded(connection: DuckDBConnection, { store }: Pick<OpenRun, "store">): Promise<void> {
  const values = columns.map(([name, { folded }]) => `${folded} AS ${name}`).join(", ");
  const newest = await lengthOfRow(store, recordedStepKey);
  for (let step = 1; step <= newest; step++) {
    const key = foldedKey(step);
    const tree = await store.readTree(key);
    if (tree === undefined) continue;
    await store.inFolder(key, tree, "", async (folder) => {
      const file = rowsFile(folder).replaceAll("'", "''");
      await connection.run(
        `INSERT INTO trajectories SELECT ${values} FROM read_parquet('${file}') GROUP BY trajectory ORDER BY trajectory`,
      );
    });
  }
}

async function loadSingle(connection: DuckDBConnection, run: Pick<OpenRun, "store">): Promise<void> {
  const reader = trajectoryReader(run);
  const read = ahead(listedTrajectories(run.store), objectsAtOnce, (name) =>
    readTrajectoryRecord(reader, name),
  );
  let rows: ReturnType<typeof rowOf>[] = [];
  for await (const record of read) {
    if (record === undefined) continue; // it is under way
    rows.push(rowOf(record));
    if (rows.length < together) continue;
    await insert(connection, rows);
    rows = [];
  }
  await insert(connection, rows);
}

async function insert(connection: DuckDBConnection, rows: ReturnType<typeof rowOf>[]): Promise<void> {
  if (rows.length === 0) return;
  const shape = JSON.stringify([
    Object.fromEntries(columns.map(([name, { type }]) => [name, shapeOf(type)])),
  ]);
  const names = columns.map(([name]) => `row.${name}`).join(", ");
  await connection.run(
    `INSERT INTO single SELECT ${names} FROM (SELECT unnest(from_json(CAST($1 AS JSON), '${shape}')) AS row)`,
    [JSON.stringify(rows, wellFormed)],
  );
}

/** A column's type as `from_json` wants it. */
function shapeOf(type: string): string | string[] {
  return type === "VARCHAR[]" ? ["VARCHAR"] : type;
}

/** Half a character is none that DuckDB takes. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
