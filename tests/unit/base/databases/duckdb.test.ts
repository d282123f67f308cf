import { existsSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { openDatabases } from "everturn/sql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const path = join(folder, "t.duckdb");
const evil = join(folder, "evil");
const databases = openDatabases({ modules: import.meta.url });
const ask = (sql: string, limits = {}) => databases.query({ engine: "duckdb", path }, sql, { limits });

beforeAll(async () => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run(
    "CREATE TABLE t AS SELECT range AS n, DATE '2020-01-01' + range::INT AS d, 1.50::DECIMAL(10, 2) AS p, '\\xAA'::BLOB AS b, [1, 2] AS l FROM range(1000)",
  );
  connection.closeSync();
  instance.closeSync();
});
afterAll(() => databases.close());

test("DuckDB's values keep their kind: dates and lists are text", async () => {
  expect(await ask("FROM t LIMIT 1")).toEqual({
    kind: "rows",
    columns: ["n", "d", "p", "b", "l"],
    rows: [[0n, "2020-01-01", 1.5, Uint8Array.of(0xaa), "[1, 2]"]],
  });
  expect(await ask("SELECT n FROM t", { rows: 3 })).toMatchObject({ rows: [[0n], [1n], [2n]], more: "rows" });
  expect(await databases.describe({ engine: "duckdb", path })).toEqual([
    "t(n BIGINT, d DATE, p DECIMAL(10,2), b BLOB, l INTEGER[])",
  ]);
});

test("DuckDB's decimals keep their digits, and NaN and infinity are numbers", async () => {
  const sql =
    "SELECT 2.50::DECIMAL(38, 20), 9007199254740993::DECIMAL(20, 1), 123456789012345678.5::DECIMAL(30, 2)";
  expect(await ask(sql)).toMatchObject({
    rows: [[2.5, 9007199254740993n, { decimal: "123456789012345678.50" }]],
  });
  const special =
    "SELECT 'nan'::DOUBLE, '-inf'::DOUBLE, 9007199254740993, 170141183460469231731687303715884105727";
  expect(await ask(special)).toMatchObject({
    rows: [[Number.NaN, Number.NEGATIVE_INFINITY, 9007199254740993n, 2n ** 127n - 1n]],
  });
});

test("DuckDB reaches no file, and keeps its settings", async () => {
  const refused = [
    `ATTACH '${evil}' AS e`,
    `COPY t TO '${evil}'`,
    `EXPORT DATABASE '${evil}'`,
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/etc/*')",
    "SET memory_limit = '10GB'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL pragma_version()",
    "PRAGMA database_list",
    "SELECT 1; SELECT 2",
    "DELETE FROM t",
    "WITH x AS (SELECT 1) DELETE FROM t",
    "CREATE TEMP TABLE z (y INT)",
    "EXPLAIN ANALYZE DELETE FROM t",
  ];
  for (const sql of refused) expect([sql, (await ask(sql)).kind]).toEqual([sql, "refused"]);
  for (const sql of ["SELECT * FROM '/etc/passwd'", "SELECT getenv('HOME')", "SELECT nothing"])
    expect([sql, (await ask(sql)).kind]).toEqual([sql, "failed"]);
  expect(existsSync(evil)).toBe(false);
});

test("DuckDB is stopped at its time and its memory", async () => {
  expect(await ask("SELECT count(*) FROM t a, t b, t c, t d", { seconds: 0.3 })).toMatchObject({
    kind: "time-limit",
  });
  const much = "SELECT list(range) FROM range(1000000000)";
  expect(await ask(much, { seconds: 60, memory: 300 })).toMatchObject({ kind: "memory-limit" });
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
    expect([sql, await ask(sql)]).toEqual([sql, expect.objectContaining({ rows: [[1]] })]);
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
