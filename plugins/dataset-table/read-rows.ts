import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { JsonObject } from "everturn/plugin";

/** How files of each ending are read. Of CSV every column is text: `007` stays what it is. */
const readers: { endings: RegExp; read: (files: string) => string }[] = [
  { endings: /\.parquet$/i, read: (files) => `read_parquet(${files}, union_by_name = true)` },
  {
    endings: /\.[ct]sv(\.gz)?$/i,
    read: (files) => `read_csv(${files}, union_by_name = true, all_varchar = true, header = true)`,
  },
  {
    endings: /\.(json|jsonl|ndjson)(\.gz)?$/i,
    read: (files) =>
      `read_json(${files}, union_by_name = true, sample_size = -1, maximum_object_size = 268435456, ${asWritten})`,
  },
];

/** Formats that no text has: one that looks like a date stays the text that it is. */
const asWritten = "dateformat = '\u0001%Y', timestampformat = '\u0001%Y'";

/**
 * The rows that a query gives over tables, each a file, or a folder whose files follow each other by name. Without a query, those of the
 * table `rows`. One thread reads them, so that the order is the same each time. Throws what DuckDB says of the query or of a file.
 */
export async function readRows(
  tables: Record<string, string>,
  query = "SELECT * FROM rows",
): Promise<JsonObject[]> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  try {
    const connection = await instance.connect();
    try {
      await connection.run("SET autoinstall_known_extensions = false");
      for (const [name, path] of Object.entries(tables)) await readTable(connection, name, path);
      await connection.run("SET enable_external_access = false; SET lock_configuration = true");
      const lines = await connection.runAndReadAll(
        `SELECT CAST(to_json(one) AS VARCHAR) FROM (${query.trim().replace(/;$/, "")}\n) AS one`,
      );
      return lines.getRows().map(([line]) => JSON.parse(String(line)));
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

async function readTable(connection: DuckDBConnection, name: string, path: string): Promise<void> {
  const files = filesOf(path);
  const reader = readers.find(({ endings }) => files.every((file) => endings.test(file)));
  if (reader === undefined)
    throw new Error(
      `${path} is no table: name a Parquet, CSV, TSV, JSON or JSON Lines file, or a folder of one kind.`,
    );
  const list = `[${files.map((file) => `'${file.replaceAll("'", "''")}'`).join(", ")}]`;
  await connection.run(`CREATE TABLE "${name.replaceAll('"', '""')}" AS SELECT * FROM ${reader.read(list)}`);
}

/** A file; of a folder those that are tables, by name. */
function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .map((name) => join(path, name))
    .filter((file) => readers.some(({ endings }) => endings.test(file)));
}
