import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DuckDBInstance } from "@duckdb/node-api";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import type { JsonObject } from "everturn/plugin";
import { afterAll, beforeAll, expect, test } from "vitest";
import sqlExecution from "../../../plugins/reward-sql-execution/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const limits = { seconds: 60 };
const configs: Record<string, JsonObject> = {
  sqlite: { engine: "sqlite", database: join(folder, "t.sqlite"), limits },
  duckdb: { engine: "duckdb", database: join(folder, "t.duckdb"), limits },
  postgresql: { engine: "postgresql", urlVariable: "EVERTURN_TEST_REWARD_SQL", limits },
};
const table = "CREATE TABLE t (n BIGINT, x DOUBLE PRECISION, d DECIMAL(30, 2))";
const rows = "INSERT INTO t VALUES (1, 1.5, 2.50), (2, 2.5, 3.50), (9007199254740993, 4, 5)";
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const sqlite = new DatabaseSync(join(folder, "t.sqlite"));
  sqlite.exec(`${table}; ${rows}`);
  sqlite.close();
  const instance = await DuckDBInstance.create(join(folder, "t.duckdb"));
  const connection = await instance.connect();
  for (const sql of [table, rows]) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
  const db = await PGlite.create();
  await db.exec(`${table}; ${rows}`);
  const server = new PGLiteSocketServer({ db, port: 0, host: "127.0.0.1", maxConnections: 20 });
  const listening = new Promise<{ port: number }>((resolve) =>
    server.addEventListener("listening", (event) => resolve((event as CustomEvent).detail)),
  );
  await server.start();
  process.env.EVERTURN_TEST_REWARD_SQL = `postgresql://postgres:postgres@127.0.0.1:${(await listening).port}/postgres`;
  closing.push(
    () => server.stop(),
    () => db.close(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

async function rewards(engine: string, gold: string, answers: string[], config: JsonObject = {}) {
  const task = { data_source: "test", prompt: [], reward_model: { ground_truth: gold } };
  const scores: unknown[] = [];
  for (const answer of answers) {
    const score = await sqlExecution.score({
      task,
      answer,
      turns: [],
      outcome: "answered",
      config: { ...configs[engine], ...config },
      signal: new AbortController().signal,
    });
    scores.push("missing" in score ? score.missing : score.reward);
  }
  return scores;
}

test.each([
  ["sqlite", "9e999", "-9e999"],
  ["duckdb", "'inf'::DOUBLE", "'-inf'::DOUBLE"],
  ["postgresql", "'infinity'::float8", "'-infinity'::float8"],
])("in %s infinity equals only itself", async (engine, infinity, negative) => {
  const answers = [`SELECT ${infinity}`, `SELECT ${negative}`, "SELECT 3", "SELECT 3.0000001"];
  expect(await rewards(engine, "SELECT count(*) FROM t", answers)).toEqual([0, 0, 1, 1]);
  expect(await rewards(engine, `SELECT ${infinity}`, [...answers, "SELECT NULL"])).toEqual([1, 0, 0, 0, 0]);
  expect(
    await rewards(engine, "SELECT max(n) FROM t", ["SELECT 9007199254740992", "SELECT 9007199254740993"]),
  ).toEqual([0, 1]);
});

test.each([
  ["duckdb", "'nan'::DOUBLE"],
  ["postgresql", "'nan'::float8"],
  ["postgresql", "'nan'::numeric"],
])("in %s %s in the gold query matches NaN only", async (engine, nan) => {
  const given = [`SELECT ${nan}`, "SELECT 0", "SELECT NULL", "SELECT 'NaN'", `SELECT x FROM t LIMIT 1`];
  expect(await rewards(engine, `SELECT ${nan}`, given)).toEqual([1, 0, 0, 0, 0]);
});

test.each(["sqlite", "duckdb", "postgresql"])(
  "in %s averages and sums are numbers, whatever their type",
  async (engine) => {
    const average = "SELECT avg(d) FROM t WHERE n < 3";
    const right = [
      "SELECT sum(d) / count(*) FROM t WHERE n < 3",
      "SELECT 3",
      "SELECT CAST(3 AS DOUBLE PRECISION)",
    ];
    expect(await rewards(engine, average, [...right, "SELECT 3.1", "SELECT '3'"])).toEqual([1, 1, 1, 0, 0]);
    const third = "SELECT 10.0 / 3";
    expect(await rewards(engine, third, ["SELECT CAST(10 AS DOUBLE PRECISION) / 3", "SELECT 3.33"])).toEqual([
      1, 0,
    ]);
  },
);

test.each(["sqlite", "duckdb", "postgresql"])(
  "in %s the gold query's own ORDER BY counts",
  async (engine) => {
    const [up, down] = ["SELECT n FROM t ORDER BY n", "SELECT n FROM t ORDER BY n DESC"];
    const order = { order: "gold" };
    for (const gold of [up, `${up} -- by n (up)`, "SELECT n FROM t ORDER/**/BY abs(n)", `(${up})`])
      if (engine !== "sqlite" || !gold.startsWith("("))
        expect([gold, await rewards(engine, gold, [up, down], order)]).toEqual([gold, [1, 0]]);
    const within = "SELECT n FROM (SELECT n FROM t ORDER BY n) AS one";
    expect(await rewards(engine, within, [up, down], order)).toEqual([1, 1]);
  },
);
