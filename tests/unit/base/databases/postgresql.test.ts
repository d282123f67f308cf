import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { openDatabases } from "everturn/sql";
import { afterAll, beforeAll, expect, test } from "vitest";

// PostgreSQL itself, built for WebAssembly, behind its own protocol on a socket. It has no signals: nothing endless is asked here.

const databases = openDatabases({ modules: import.meta.url });
let url = "";
let close = async () => {};
const ask = (sql: string, limits = {}) =>
  databases.query({ engine: "postgresql", url }, sql, { limits: { seconds: 60, ...limits } });

beforeAll(async () => {
  const db = await PGlite.create();
  await db.exec(
    "CREATE TABLE t AS SELECT n, date '2020-01-01' + n AS d, 1.50::numeric(10, 2) AS p, '\\xAA00'::bytea AS b, n::bigint AS big, n > 1 AS more FROM generate_series(0, 999) n",
  );
  const server = new PGLiteSocketServer({ db, port: 0, host: "127.0.0.1", maxConnections: 20 });
  const listening = new Promise<{ port: number }>((resolve) =>
    server.addEventListener("listening", (event) => resolve((event as CustomEvent).detail)),
  );
  await server.start();
  url = `postgresql://postgres:postgres@127.0.0.1:${(await listening).port}/postgres`;
  close = async () => {
    await server.stop();
    await db.close();
  };
});
afterAll(async () => {
  databases.close();
  await close();
});

test("PostgreSQL's values keep their kind, and rows end at their limit", async () => {
  expect(await ask("SELECT * FROM t ORDER BY n;", { rows: 1 })).toEqual({
    kind: "rows",
    columns: ["n", "d", "p", "b", "big", "more"],
    rows: [[0n, "2020-01-01", 1.5, Uint8Array.of(0xaa, 0), 0n, false]],
    more: "rows",
  });
  expect(await ask("SELECT count(*), sum(p) FROM t")).toMatchObject({ rows: [[1000n, 1500]] });
  expect(await ask("EXPLAIN SELECT * FROM t")).toMatchObject({
    rows: [[expect.stringContaining("Seq Scan")]],
  });
  expect(await databases.describe({ engine: "postgresql", url })).toEqual([
    "t(n integer, d date, p numeric(10,2), b bytea, big bigint, more boolean)",
  ]);
});

test("PostgreSQL's decimals keep their digits, and NaN and infinity are numbers", async () => {
  expect(await ask("SELECT avg(n), sum(9007199254740993::bigint), 1.0 / 3 FROM t WHERE n < 2")).toMatchObject(
    {
      rows: [[0.5, 18014398509481986n, { decimal: "0.33333333333333333333" }]],
    },
  );
  expect(
    await ask("SELECT 'NaN'::numeric, 'Infinity'::numeric, '-Infinity'::float8, 'NaN'::float8"),
  ).toMatchObject({
    rows: [[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]],
  });
});

test("PostgreSQL is only read: nothing else is begun, set, copied, or called", async () => {
  const refused = [
    "SELECT 1; SELECT 2",
    "SET statement_timeout = 0",
    "COPY t TO '/tmp/x'",
    "DELETE FROM t",
    "COMMIT",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_file/* a /* comment */ in a comment */('/etc/passwd')",
    "SELECT set_config('a.b', '1', false)",
    `SELECT "set_config"('a.b', '1', false)`,
    `SELECT U&"\\0073et_config"('a.b', '1', false)`,
    "SELECT query_to_xml('SELECT 1', true, true, '')",
    "EXPLAIN ANALYZE DELETE FROM t",
    "SELECT * FROM ts_stat('SELECT to_tsvector(set_' || 'config(''a.b'', ''1'', false))')",
    "SELECT pg_stat_reset /* hidden */ ()",
    "SELECT pg_create_physical_replication_slot('a')",
    `SELECT "pg_catalog" . "pg_ls_dir" ('/')`,
  ];
  for (const sql of refused) expect([sql, (await ask(sql)).kind]).toEqual([sql, "refused"]);
  const failed = ["WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "SELECT nothing", "SELECT 1 / 0"];
  for (const sql of failed) expect([sql, (await ask(sql)).kind]).toEqual([sql, "failed"]);
  expect(await ask("SELECT count(*) FROM t")).toMatchObject({ rows: [[1000n]] });
  expect(await ask("SELECT pg_typeof(1)::text, 'pg_ls_dir(1)'")).toMatchObject({
    rows: [["integer", "pg_ls_dir(1)"]],
  });
});

test("a server that is not there is the host's failure", async () => {
  const gone = { engine: "postgresql" as const, url: "postgresql://postgres@127.0.0.1:1/postgres" };
  await expect(databases.query(gone, "SELECT 1")).rejects.toMatchObject({ code: "DATABASE_UNUSABLE" });
});

test("empty statements and comments around the only statement are no statements", async () => {
  const fine = [
    "SELECT 1;;",
    "SELECT 1; -- done\n",
    "SELECT 1 /* one */ ; /* two; */ ; -- three;",
    ";; SELECT 1",
    "-- first\n;/* second */SELECT 1",
    " ;\n\t; SELECT 1\n;\n;\n",
  ];
  for (const sql of fine)
    expect([sql, await ask(sql)]).toEqual([sql, expect.objectContaining({ rows: [[1n]] })]);
  for (const sql of [
    "SELECT 1;; SELECT 2",
    "SELECT 1; /* x */ SELECT 2;",
    ";",
    ";;",
    "; -- only",
    "SELECT 1; x",
  ])
    expect([sql, await ask(sql)]).toEqual([sql, expect.objectContaining({ kind: "refused" })]);
});
