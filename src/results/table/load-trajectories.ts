import { setImmediate as nextTurn } from "node:timers/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { ahead } from "../../base/async/ahead.ts";
import type { FoldedStep } from "../../contracts/folded-step.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type QueryColumn, queryColumns } from "../../run/projections/query-columns.ts";
import { type QueryRow, queryRow } from "../../run/projections/query-row.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import { foldedKey, recordedStepKey } from "../../run/store/keys.ts";
import { lengthOfRow } from "../../run/store/row.ts";
import { rowsFile } from "../../run/trajectory/folded/parquet-file.ts";
import { listedTrajectories } from "../../run/trajectory/listed-trajectories.ts";
import { trajectoryReader } from "../../run/trajectory/reader.ts";
import { readTrajectoryRecord } from "../../run/trajectory/trajectory-files.ts";

const columns = Object.entries<QueryColumn>(queryColumns);

/**
 * The number of rows inserted at once, and of files read by one query, because each query takes some milliseconds.
 */
const together = 500;
const filesTogether = 100;

/** Loads the finished trajectories of a run, from steps' files and single records, into the table `trajectories`. */
export async function loadTrajectories(
  connection: DuckDBConnection,
  run: Pick<OpenRun, "store">,
): Promise<void> {
  const definitions = columns.map(([name, { type }]) => `${name} ${type}`).join(", ");
  await connection.run(`CREATE TABLE trajectories (${definitions}); CREATE TABLE single (${definitions})`);
  await loadSingle(connection, run); // first: what moves into a file meanwhile is found there
  await loadFolded(connection, run);
  await connection.run(
    `INSERT INTO trajectories FROM single WHERE trajectory NOT IN (SELECT trajectory FROM trajectories); DROP TABLE single`,
  );
}

async function loadFolded(connection: DuckDBConnection, { store }: Pick<OpenRun, "store">): Promise<void> {
  const newest = await lengthOfRow(store, recordedStepKey);
  for (let first = 1; first <= newest; first += filesTogether) {
    const count = Math.min(filesTogether, newest - first + 1);
    const keys = Array.from({ length: count }, (_, index) => foldedKey(first + index));
    await inFolders(store, keys, [], (found) => loadFiles(connection, found));
  }
}

/** A step's file, and its record's list of the trajectories in it. */
interface FoldedFile {
  folder: string;
  trajectories: FoldedStep["trajectories"];
}

/** Runs work on the folders of these trees, for those that are complete. */
async function inFolders(
  store: Pick<OpenRun["store"], "readTree" | "inFolder">,
  [key, ...others]: readonly ReturnType<typeof foldedKey>[],
  found: readonly FoldedFile[],
  work: (found: readonly FoldedFile[]) => Promise<void>,
): Promise<void> {
  if (key === undefined) return work(found);
  await nextTurn(); // lets other work in this process run
  const tree = await store.readTree(key);
  const next = (files: readonly FoldedFile[]) => inFolders(store, others, files, work);
  const { trajectories = [] } = tree?.value ?? {};
  const done =
    tree !== undefined &&
    (await store.inFolder(key, tree, "", (folder) => next([...found, { folder, trajectories }])));
  if (!done) await next(found);
}

/**
 * Loads steps' files. The tools that a trajectory called come from the file's record: inside the file they are part
 * of the conversation, which takes longer to read than all other columns together.
 */
async function loadFiles(connection: DuckDBConnection, files: readonly FoldedFile[]): Promise<void> {
  if (files.length === 0) return;
  await connection.run(
    "CREATE TABLE called (stage VARCHAR, task VARCHAR, sample INTEGER, tool_calls INTEGER, names VARCHAR)",
  );
  const called = await connection.createAppender("called");
  for (const { trajectories } of files) {
    for (const { stage, task, sample, toolCalls, tools } of trajectories) {
      called.appendVarchar(stage);
      called.appendVarchar(task.toWellFormed());
      called.appendInteger(sample);
      called.appendInteger(toolCalls);
      called.appendVarchar(JSON.stringify(tools.toSorted(), wellFormed));
      called.endRow();
    }
    await nextTurn();
  }
  called.closeSync();
  const list = files.map(({ folder }) => `'${rowsFile(folder).replaceAll("'", "''")}'`).join(", ");
  const folded = columns.flatMap(([name, { folded: expression }]) =>
    expression === undefined ? [] : `${expression} AS ${name}`,
  );
  const tools = `from_json(names, '["VARCHAR"]')`;
  await connection.run(`INSERT INTO trajectories BY NAME
    SELECT folded.*, tool_calls, ${tools} AS tools, array_to_string(${tools}, ', ') AS tool
    FROM (SELECT ${folded.join(", ")} FROM read_parquet([${list}]) GROUP BY trajectory) AS folded
    JOIN called USING (stage, task, sample);
    DROP TABLE called`);
}

async function loadSingle(connection: DuckDBConnection, run: Pick<OpenRun, "store">): Promise<void> {
  const reader = trajectoryReader(run);
  const read = ahead(listedTrajectories(run.store), objectsAtOnce, (name) =>
    readTrajectoryRecord(reader, name),
  );
  let rows: QueryRow[] = [];
  for await (const record of read) {
    await nextTurn();
    if (record === undefined) continue; // it is in progress
    rows.push(queryRow(record));
    if (rows.length < together) continue;
    await insert(connection, rows);
    rows = [];
  }
  await insert(connection, rows);
}

async function insert(connection: DuckDBConnection, rows: QueryRow[]): Promise<void> {
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

/** A column's type in the form of `from_json`. */
function shapeOf(type: string): string | string[] {
  return type === "VARCHAR[]" ? ["VARCHAR"] : type;
}

/** Replaces unpaired surrogates, which DuckDB rejects. */
function wellFormed(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}
