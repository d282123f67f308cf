import type { DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { messageOf } from "../errors/message-of.ts";
import { decimalValue } from "./decimal-value.ts";
import { driver } from "./driver.ts";
import type { Engine, StatementLimits } from "./engine.ts";
import type { QueryOutcome, SqlValue } from "./outcome.ts";
import { byteSize } from "./size.ts";
import { Unusable } from "./unusable.ts";

type Duckdb = typeof import("@duckdb/node-api");

/**
 * A DuckDB database, opened read-only unless `write`. It has no access to other files or the network, and its
 * settings are locked. Its functions throw Unusable.
 */
export function duckdb(path: string, modules: string): Engine {
  return {
    query: (sql, limits) =>
      connected(path, modules, limits, (api, connection) => query(api, connection, sql, limits)),
    describe: () =>
      connected(path, modules, { write: false, memory: 512 }, async (_, connection) => {
        const found = await connection.runAndReadAll(tables);
        return found.getRows().map(([table, columns]) => `${table}(${columns})`);
      }),
  };
}

const tables = `SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index)
FROM duckdb_columns() WHERE NOT internal GROUP BY schema_name, table_name ORDER BY table_name`;

/** Forbids other files, the network, external code and temporary files, then locks these settings. */
const lockedDown = `SET temp_directory = ''; SET autoload_known_extensions = false; SET autoinstall_known_extensions = false;
SET allow_community_extensions = false; SET enable_external_access = false; SET lock_configuration = true`;

async function connected<T>(
  path: string,
  modules: string,
  { write, memory }: Pick<StatementLimits, "write" | "memory">,
  work: (api: Duckdb, connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const api = await driver<Duckdb>("@duckdb/node-api", modules);
  const access_mode = write ? "READ_WRITE" : "READ_ONLY";
  const instance = await api.DuckDBInstance.create(path, { access_mode, threads: "1" }).catch(
    (error: unknown) => {
      throw new Unusable(messageOf(error));
    },
  );
  try {
    const connection = await instance.connect();
    try {
      await connection.run(`SET memory_limit = '${Math.ceil(memory / 2)}MiB'; ${lockedDown}`);
      return await work(api, connection);
    } finally {
      connection.closeSync();
    }
  } finally {
    instance.closeSync();
  }
}

async function query(
  { StatementType }: Duckdb,
  connection: DuckDBConnection,
  sql: string,
  { rows: most, bytes, write }: StatementLimits,
): Promise<QueryOutcome> {
  const { SELECT, EXPLAIN, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER } = StatementType;
  const allowed: readonly number[] = write
    ? [SELECT, EXPLAIN, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER]
    : [SELECT, EXPLAIN];
  try {
    const statements = await connection.extractStatements(sql);
    if (statements.count !== 1) return { kind: "refused", message: "one statement at a time." };
    const statement = await statements.prepare(0);
    if (!allowed.includes(statement.statementType)) {
      const message = write
        ? "only queries and changes of data and tables are run."
        : "the database is for reading only: write a query (SELECT).";
      return { kind: "refused", message };
    }
    const result = await statement.stream();
    const columns = result.deduplicatedColumnNames();
    const rows: SqlValue[][] = [];
    let size = 0;
    for (;;) {
      const chunk = await result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) break;
      for (const row of chunk.getRows()) {
        if (rows.length === most) return { kind: "rows", columns, rows, more: "rows" };
        const values = row.map(sqlValue);
        size += byteSize(values);
        if (size > bytes) return { kind: "rows", columns, rows, more: "bytes" };
        rows.push(values);
      }
    }
    const isQuery = statement.statementType === SELECT || statement.statementType === EXPLAIN;
    return isQuery ? { kind: "rows", columns, rows } : { kind: "changed", changes: result.rowsChanged };
  } catch (error) {
    const message = messageOf(error);
    if (/^Permission Error|disabled by configuration|configuration has been locked/.test(message))
      return { kind: "refused", message: `not allowed here: ${message}` };
    if (/^Out of Memory Error/.test(message)) return { kind: "memory-limit", message };
    if (/read-only/i.test(message))
      return { kind: "refused", message: "the database is for reading only: write a query (SELECT)." };
    return { kind: "failed", message };
  }
}

/** Converts a DuckDB value. Dates, lists and other types become text as DuckDB writes them. */
function sqlValue(value: DuckDBValue): SqlValue {
  if (value === null || typeof value === "boolean" || typeof value === "bigint" || typeof value === "string")
    return value;
  if (typeof value === "number") return value;
  if ("bytes" in value && value.bytes instanceof Uint8Array) return new Uint8Array(value.bytes);
  return "scale" in value ? decimalValue(String(value)) : String(value);
}
