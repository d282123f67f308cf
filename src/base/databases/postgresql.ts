import type { Client, CustomTypesConfig } from "pg";
import { messageOf } from "../errors/message-of.ts";
import { decimalValue } from "./decimal-value.ts";
import { driver } from "./driver.ts";
import type { Engine, StatementLimits } from "./engine.ts";
import type { QueryOutcome, SqlValue } from "./outcome.ts";
import { byteSize } from "./size.ts";
import { tokensOf } from "./statement.ts";
import { Unusable } from "./unusable.ts";

/**
 * Functions that run text as SQL, which the check can't look into, and functions that reach beyond the database's
 * tables.
 */
const denied =
  /^(set_config|\w+_to_xml(schema|_and_xmlschema)?|ts_stat|ts_rewrite|crosstab\w*|connectby|xpath_table|dblink\w*|postgres_fdw\w*|lo_\w+|loread|lowrite|(brin|gin)_\w+|(set|next)val)$/;
/** The server's own functions that only describe tables, types and values, and `pg_sleep`. */
const harmless =
  /^pg_(typeof|sleep\w*|size_\w+|(column|relation|table|total_relation|indexes|database)_size|column_compression|get_\w+|\w+_is_visible|backend_pid|postmaster_start_time|encoding_to_char|char_to_encoding|client_encoding|collation_for|describe_object|identify_object|has_role|input_is_valid|is_in_recovery)$/;

/** The first forbidden function that a query calls; undefined if it calls none. */
function deniedCall(sql: string): string | undefined {
  const tokens = tokensOf(sql, "postgresql").map((token) => token.toLowerCase().replace(/^"(.*)"$/s, "$1"));
  return tokens.find((name, at) => {
    if (tokens[at + 1] !== "(") return false;
    return denied.test(name) || (name.startsWith("pg_") && !harmless.test(name));
  });
}

/** Rows per fetch. */
const fetched = 100;

/**
 * A PostgreSQL database. A query runs as a cursor in a read-only transaction over the extended protocol, which takes
 * a single statement. The server stops it when its time is up. Beyond that, the role's own permissions apply. Its
 * functions throw Unusable.
 */
export function postgresql(url: string, modules: string): Engine {
  return {
    query: (sql, limits) => connected(url, modules, limits.seconds, (client) => query(client, sql, limits)),
    describe: () =>
      connected(url, modules, 30, async (client) => {
        const { rows } = await client.query<{ line: string }>(tables);
        return rows.map(({ line }) => line);
      }),
  };
}

const tables = `SELECT c.relname || '(' || string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum) || ')' AS line
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'
GROUP BY c.oid, c.relname ORDER BY c.relname`;

/** Makes a server that supports it check every second whether the client is still connected. */
const noticesDeath = "SET client_connection_check_interval = 1000";

async function connected<T>(
  connectionString: string,
  modules: string,
  seconds: number,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const { default: pg } = await driver<{ default: typeof import("pg") }>("pg", modules);
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: 10_000,
    types: { getTypeParser },
  });
  client.on("error", () => {}); // the query that it breaks reports it
  try {
    await client.connect();
    await client.query(`SET statement_timeout = ${Math.ceil(seconds * 1000)}`);
    await client.query(noticesDeath).catch(() => {}); // older servers stop at the timeout above instead
    await client.query("BEGIN READ ONLY");
  } catch (error) {
    await client.end().catch(() => {});
    throw new Unusable(messageOf(error));
  }
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {}); // also ends the transaction
  }
}

async function query(
  client: Client,
  sql: string,
  { rows: most, bytes, seconds }: StatementLimits,
): Promise<QueryOutcome> {
  const called = deniedCall(sql);
  if (called !== undefined)
    return { kind: "refused", message: `the function ${called} is not allowed here.` };
  if (/u&"/i.test(sql))
    return { kind: "refused", message: 'names with escapes (U&"…") are not allowed here.' };
  const isExplain = /^\s*explain\b/i.test(sql);
  const ask = (text: string) => {
    const extended = { text, rowMode: "array" as const, queryMode: "extended" };
    return client.query<SqlValue[]>(extended);
  };
  try {
    if (isExplain) {
      const { rows } = await ask(sql);
      return { kind: "rows", columns: ["plan"], rows: rows.slice(0, most) };
    }
    await ask(`DECLARE everturn NO SCROLL CURSOR FOR ${sql}`);
    const rows: SqlValue[][] = [];
    let size = 0;
    for (;;) {
      const { rows: some, fields } = await ask(`FETCH ${fetched} FROM everturn`);
      const columns = fields.map(({ name }) => name);
      for (const row of some) {
        if (rows.length === most) return { kind: "rows", columns, rows, more: "rows" };
        size += byteSize(row);
        if (size > bytes) return { kind: "rows", columns, rows, more: "bytes" };
        rows.push(row);
      }
      if (some.length < fetched) return { kind: "rows", columns, rows };
    }
  } catch (error) {
    const message = messageOf(error);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "57014") return { kind: "time-limit", message: `it ran for longer than ${seconds} s` };
    if (code === "25006" || code === "42501")
      return { kind: "refused", message: `not allowed here: ${message}.` };
    if (code === "" || code.startsWith("08") || code.startsWith("57P") || code.startsWith("53"))
      throw new Unusable(message);
    return { kind: "failed", message };
  }
}

/** Parsers for integers, numbers, booleans and bytes. All other types stay text as PostgreSQL writes them. */
const parsers = new Map<number, (text: string) => SqlValue>([
  [16, (text) => text === "t"],
  [17, (text) => new Uint8Array(Buffer.from(text.slice(2), "hex"))],
  ...[20, 21, 23, 26].map((oid): [number, (text: string) => SqlValue] => [oid, BigInt]),
  ...[700, 701].map((oid): [number, (text: string) => SqlValue] => [oid, Number]),
  [1700, decimalValue],
]);

const getTypeParser: CustomTypesConfig["getTypeParser"] = (oid: number) => parsers.get(oid) ?? String;
