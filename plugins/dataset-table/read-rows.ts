import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { type Row, readJsonRows, rowOf } from "./json-rows.ts";
import { type AlikeNames, fieldsAlike, headersAlike, keysAlike } from "./names-alike.ts";

/** The rows of tables, and the problems of rows that a query could not receive. */
export interface ReadRows {
  rows: Row[];
  unreadable: string[];
}

/** Options for reading tables. */
export interface ReadOptions {
  /** SQL over the tables. Default: the rows of the table `rows`. */
  query?: string | undefined;
  /** Columns whose integers and decimals become text, digit by digit. */
  asText: readonly string[];
  /** Whether to leave out unreadable rows. Otherwise they are refused. */
  skips: boolean;
}

const jsonFile = /\.(json|jsonl|ndjson)(\.gz)?$/i;
const csvFile = /\.[ct]sv(\.gz)?$/i;
const parquetFile = /\.parquet$/i;

/**
 * Returns the rows of a query over tables. Without a query: those of the table `rows`. A table is a file, or
 * a folder whose files are read in the order of their names. A single thread reads them, so that the order is
 * always the same. Throws DuckDB's errors for the query or a file, and Error for names that differ only by
 * case, because DuckDB would rename them.
 */
export async function readRows(tables: Record<string, string>, options: ReadOptions): Promise<ReadRows> {
  const { query, asText, skips } = options;
  const { rows: path = "" } = tables;
  const files = filesOf(path);
  if (query === undefined && files.every((file) => jsonFile.test(file)))
    return { rows: files.flatMap(readJsonRows), unreadable: [] };
  const folder = mkdtempSync(join(tmpdir(), "everturn-table-"));
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  try {
    const connection = await instance.connect();
    try {
      await connection.run("SET autoinstall_known_extensions = false");
      const unreadable: string[] = [];
      for (const [name, place] of Object.entries(tables))
        unreadable.push(...(await readTable(connection, name, place, folder)));
      if (unreadable.length > 0 && !skips) throw new Error(unreadable.slice(0, 20).join("\n"));
      await connection.run("SET enable_external_access = false; SET lock_configuration = true");
      const source = `(${query?.trim().replace(/;$/, "") ?? "SELECT * FROM rows"}\n)`;
      const texts = await textColumns(connection, source, asText);
      const lines = await connection.runAndReadAll(
        `SELECT CAST(to_json(one) AS VARCHAR) FROM (SELECT *${texts} FROM ${source}) AS one`,
      );
      return { rows: lines.getRows().map(([line]) => rowOf(String(line))), unreadable };
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Creates a table from files. Returns the problems of rows that it can't hold. `folder` is for rewritten
 * files.
 */
async function readTable(
  connection: DuckDBConnection,
  name: string,
  path: string,
  folder: string,
): Promise<string[]> {
  const files = filesOf(path);
  const all = (kind: RegExp) => files.every((file) => kind.test(file));
  const table = `CREATE TABLE ${quoted(name)} AS SELECT * FROM`;
  if (all(parquetFile)) {
    for (const file of files) refuseAlike(file, await fieldsAlike(connection, file));
    await connection.run(`${table} read_parquet(${listOf(files)}, union_by_name = true)`);
    return [];
  }
  if (all(csvFile)) {
    for (const file of files) refuseAlike(file, await headersAlike(connection, file));
    const options = "all_varchar = true, header = true, store_rejects = true, rejects_limit = 0";
    const reads = files.map((file) => `SELECT * FROM read_csv(${listOf([file])}, ${options})`);
    await connection.run(`CREATE TABLE ${quoted(name)} AS ${reads.join(" UNION ALL BY NAME ")}`);
    const rejected = await connection.runAndReadAll(
      "SELECT file_path, line, error_message FROM reject_errors JOIN reject_scans USING (scan_id, file_id) ORDER BY ALL",
    );
    await connection.run("DROP TABLE reject_errors; DROP TABLE reject_scans");
    return rejected.getRows().map(([file, line, message]) => `${file}:${line}: ${message}`);
  }
  if (!all(jsonFile)) {
    throw new Error(
      `${path} is not a table: name a Parquet, CSV, TSV, JSON or JSON Lines file, or a folder of one kind.`,
    );
  }
  const rows = files.flatMap((file) =>
    readJsonRows(file).map((row, at) => ({ ...row, at: `${file}:${at + 1}` })),
  );
  const good = rows.filter(({ row }) => row !== undefined);
  for (const { row, at } of good) refuseAlike(at, keysAlike(row ?? null));
  const clean = join(folder, `${name}.jsonl`);
  writeFileSync(clean, good.map(({ row }) => `${JSON.stringify(row)}\n`).join(""));
  const options = "maximum_object_size = 268435456, format = 'newline_delimited'";
  const columns = await jsonColumns(
    connection,
    `read_json(${listOf([clean])}, ${options}, sample_size = -1)`,
  );
  await connection.run(`${table} read_json(${listOf([clean])}, ${options}${columns})`);
  return rows.flatMap((one) => (one.row === undefined ? [`${one.at}: ${one.reason}`] : []));
}

/**
 * Returns the option of `read_json` that names all columns, with the types that DuckDB detects. Texts that
 * look like a date, a time or a UUID stay texts. Empty if there are no columns.
 */
async function jsonColumns(connection: DuckDBConnection, source: string): Promise<string> {
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${source}`);
  const columns = described.getRows().map(([name, type]) => {
    const asWritten = String(type).replace(readTexts, (found, isText) =>
      isText === undefined ? found : "VARCHAR",
    );
    return `${text(String(name))}: ${text(asWritten)}`;
  });
  return columns.length === 0 ? "" : `, columns = {${columns.join(", ")}}`;
}

/** Matches quoted names, and the types that DuckDB derives from texts. A field's type follows its name. */
const readTexts =
  /"(?:[^"]|"")*"|\b(DATE|TIMESTAMP(?: WITH TIME ZONE|_\w+)?|TIME(?: WITH TIME ZONE)?|UUID)(?=[,)[]|$)/g;

function refuseAlike(place: string, names: AlikeNames | undefined): void {
  if (names === undefined) return;
  throw new Error(
    `${place}: DuckDB cannot tell the names ${names[0]} and ${names[1]} apart. Rename one of the two.`,
  );
}

/**
 * Returns the part of a SELECT that converts integers and decimals in these columns to text, so that 12.50
 * keeps its digits.
 */
async function textColumns(
  connection: DuckDBConnection,
  source: string,
  asText: readonly string[],
): Promise<string> {
  if (asText.length === 0) return "";
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${source}`);
  const casts = described
    .getRows()
    .map(([name, type]) => ({ name: String(name), type: String(type) }))
    .filter(({ name, type }) => asText.includes(name) && /INT$|^DECIMAL/.test(type))
    .map(({ name }) => quoted(name))
    .map((name) => `CAST(${name} AS VARCHAR) AS ${name}`);
  return casts.length === 0 ? "" : ` REPLACE (${casts.join(", ")})`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function listOf(files: readonly string[]): string {
  return `[${files.map(text).join(", ")}]`;
}

function text(content: string): string {
  return `'${content.replaceAll("'", "''")}'`;
}

/** The file itself, or the tables in a folder, by name. */
function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .map((name) => join(path, name))
    .filter((file) => [parquetFile, csvFile, jsonFile].some((kind) => kind.test(file)));
}
