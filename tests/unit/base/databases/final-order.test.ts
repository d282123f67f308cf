import { endsOrdered } from "everturn/sql";
import { expect, test } from "vitest";

const ordered = [
  "SELECT a FROM t ORDER BY a",
  "select a from t order by (a)",
  "SELECT a FROM t ORDER BY lower(a), b DESC LIMIT (SELECT 5)",
  "SELECT a FROM t ORDER BY a -- the last (or not)",
  "SELECT a FROM t ORDER BY a /* ( */;",
  "SELECT a FROM t ORDER /* ) */ BY a",
  "SELECT a FROM t order/**/by a",
  "SELECT a FROM t ORDER--\nBY a\n;\n-- done (",
  "SELECT a FROM t ORDER BY CASE WHEN a = ')' THEN 1 ELSE 2 END",
  "WITH x AS (SELECT 1 AS a) SELECT a FROM x ORDER BY coalesce(a, (SELECT max(a) FROM x))",
  "SELECT a FROM t UNION ALL SELECT b FROM u ORDER BY 1",
  "(SELECT a FROM t ORDER BY a)",
  "((SELECT a FROM t ORDER BY a LIMIT 3));",
  "(SELECT a FROM t) UNION (SELECT b FROM u) ORDER BY a",
  "SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 2",
];

const unordered = [
  "SELECT a FROM t",
  "SELECT a FROM (SELECT a FROM t ORDER BY a)",
  "SELECT a FROM (SELECT a FROM t ORDER BY a) AS x WHERE a > 1",
  "SELECT rank() OVER (ORDER BY a) FROM t",
  "SELECT rank() OVER w FROM t WINDOW w AS (PARTITION BY b ORDER BY a)",
  "SELECT string_agg(a, ',' ORDER BY a) FROM t",
  "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t",
  "SELECT a FROM t WHERE b = 'x ORDER BY a'",
  'SELECT "ORDER BY" FROM t',
  'SELECT a AS "order" , by FROM t',
  "SELECT a FROM t -- ORDER BY a",
  "SELECT a FROM t /* ORDER BY a */",
  "(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL (SELECT a FROM t ORDER BY a DESC LIMIT 1)",
  "WITH x AS (SELECT a FROM t ORDER BY a) SELECT a FROM x",
  "SELECT a FROM t WHERE a IN (SELECT b FROM u ORDER BY b LIMIT 3)",
];

test.each(["sqlite", "duckdb", "postgresql"] as const)(
  "in %s, a query's last ORDER BY orders its rows",
  (engine) => {
    expect(ordered.filter((sql) => !endsOrdered(sql, engine))).toEqual([]);
    expect(unordered.filter((sql) => endsOrdered(sql, engine))).toEqual([]);
  },
);

test("quotes and comments end where each engine ends them", () => {
  expect(endsOrdered("SELECT [x ORDER BY a] FROM t", "sqlite")).toBe(false);
  expect(endsOrdered("SELECT [x (] FROM t ORDER BY a", "sqlite")).toBe(true);
  expect(endsOrdered("SELECT `x ORDER BY a` FROM t", "sqlite")).toBe(false);
  expect(endsOrdered("SELECT $$ ORDER BY a $$ FROM t", "postgresql")).toBe(false);
  expect(endsOrdered("SELECT $x$ ) $$ ( $x$ FROM t ORDER BY a", "duckdb")).toBe(true);
  expect(endsOrdered(String.raw`SELECT E'\' ORDER BY a' FROM t`, "postgresql")).toBe(false);
  for (const engine of ["duckdb", "postgresql"] as const) {
    expect(endsOrdered("SELECT a /* ( /* ( */ ( */ FROM t ORDER BY a", engine)).toBe(true);
    expect(endsOrdered("SELECT a FROM t /* /* */ ORDER BY a */", engine)).toBe(false);
  }
  expect(endsOrdered("SELECT a FROM t /* /* */ ORDER BY a", "sqlite")).toBe(true);
});
