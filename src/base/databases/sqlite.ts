import { constants, DatabaseSync } from "node:sqlite";
import type { Engine, StatementLimits } from "./engine.ts";
import type { QueryOutcome, SqlValue } from "./outcome.ts";
import { byteSize } from "./size.ts";
import { Unusable } from "./unusable.ts";

/** Actions that the authorizer allows in a query, followed by those that a change may take in addition. */
const reading: readonly number[] = [
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
];
const writing: readonly number[] = [
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
  constants.SQLITE_CREATE_TABLE,
  constants.SQLITE_CREATE_INDEX,
  constants.SQLITE_CREATE_VIEW,
  constants.SQLITE_DROP_TABLE,
  constants.SQLITE_DROP_INDEX,
  constants.SQLITE_DROP_VIEW,
  constants.SQLITE_ALTER_TABLE,
  constants.SQLITE_REINDEX,
];
const deniedFunctions = ["load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"];

/** The longest text or BLOB that a query may build, on versions of Node that can limit it. */
const longest = 10_000_000;
/** How many bytes a copy may grow by its changes. */
const growth = 64 * 2 ** 20;
const notDatabase = new Set([11, 14, 26]); // SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_NOTADB

/** An SQLite database. Its functions throw Unusable. */
export function sqlite(path: string): Engine {
  return {
    query: (sql, limits) => query(path, sql, limits),
    describe: () => describe(path),
  };
}

/**
 * Runs one statement that `refusal` allows. On Node 24.10 and later, the authorizer restricts every part of it to
 * reading or changing tables. Earlier versions rely on its first word, a read-only database and disabled extensions.
 * Throws Unusable.
 */
function query(path: string, sql: string, { rows: most, bytes, write }: StatementLimits): QueryOutcome {
  const database = opened(path, write);
  let denied: string | undefined;
  try {
    if (typeof database.setAuthorizer === "function") {
      database.limits.length = longest;
      database.limits.attach = 0;
      database.setAuthorizer((action, one, two) => {
        const may = reading.includes(action) || (write && writing.includes(action));
        const called = two?.toLowerCase() ?? "";
        if (may && !(action === constants.SQLITE_FUNCTION && deniedFunctions.includes(called)))
          return constants.SQLITE_OK;
        denied ??= describeDenied(action, one, two);
        return constants.SQLITE_DENY;
      });
    }
    const statement = database.prepare(sql);
    if (statement.columns().length === 0)
      return { kind: "changed", changes: Number(statement.run().changes) };
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    const columns = statement.columns().map(({ name }) => name);
    const rows: SqlValue[][] = [];
    let size = 0;
    // The types don't know that `setReturnArrays` makes each row an array.
    for (const row of statement.iterate()) {
      const values = Object.values(row);
      if (rows.length === most) return { kind: "rows", columns, rows, more: "rows" };
      size += byteSize(values);
      if (size > bytes) return { kind: "rows", columns, rows, more: "bytes" };
      rows.push(values);
    }
    return { kind: "rows", columns, rows };
  } catch (error) {
    if (isUnusable(error)) throw new Unusable(String(error));
    if (denied !== undefined) return { kind: "refused", message: denied };
    const message = error instanceof Error ? error.message : String(error);
    if (message.includes("readonly database"))
      return { kind: "refused", message: "the database is for reading only: write a query (SELECT)." };
    return { kind: "failed", message: message + tablesHint(message, database) };
  } finally {
    database.close();
  }
}

/** Lists the tables of an SQLite database with their columns, one line per table. Throws Unusable. */
function describe(path: string): string[] {
  const database = opened(path, false);
  try {
    return tableNames(database).map((table) => {
      const keys = database.prepare("SELECT * FROM pragma_foreign_key_list(?)").all(table);
      const columns = database.prepare("SELECT * FROM pragma_table_info(?)").all(table);
      const described = columns.map(({ name, type, pk, notnull }) => {
        const key = keys.find(({ from }) => from === name);
        const target = key === undefined ? "" : ` → ${key.table}.${key.to ?? "its primary key"}`;
        const required = notnull === 1 && pk === 0 ? " NOT NULL" : "";
        return `${name}${type ? ` ${type}` : ""}${pk === 0 ? "" : " PRIMARY KEY"}${required}${target}`;
      });
      return `${table}(${described.join(", ")})`;
    });
  } catch (error) {
    throw new Unusable(String(error));
  } finally {
    database.close();
  }
}

function opened(path: string, write: boolean): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { readOnly: !write, allowExtension: false, timeout: 1000 });
    database.exec("PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF");
    if (!write) return database;
    const { page_size: page } = database.prepare("PRAGMA page_size").get() ?? {};
    const { page_count: pages } = database.prepare("PRAGMA page_count").get() ?? {};
    const most = Number(pages) + Math.ceil(growth / Number(page));
    database.exec(`PRAGMA journal_mode = DELETE; PRAGMA max_page_count = ${most}`);
    return database;
  } catch (error) {
    throw new Unusable(String(error));
  }
}

function isUnusable(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && notDatabase.has(Number(error.errcode) & 0xff);
}

function tableNames(database: DatabaseSync): string[] {
  const tables = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
  );
  return tables.all().map(({ name }) => String(name));
}

function tablesHint(message: string, database: DatabaseSync): string {
  if (!message.startsWith("no such table")) return "";
  return `. Tables: ${tableNames(database).join(", ")}`;
}

function describeDenied(action: number, one: string | null, two: string | null): string {
  if (action === constants.SQLITE_FUNCTION) return `the function ${two} is not allowed here.`;
  if (action === constants.SQLITE_PRAGMA)
    return `PRAGMA ${one} is not allowed here. Call with \`describe\` to see tables and columns.`;
  const isChange = writing.includes(action);
  return isChange
    ? "the database is for reading only: write a query (SELECT)."
    : "this statement does more than read and change tables.";
}
