import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabases } from "everturn/sql";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const chinook = join(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "..",
  "pipelines",
  "chinook-sql",
  "chinook.sqlite",
);
const folder = temporaryFolder();
const path = join(folder, "chinook.sqlite");
copyFileSync(chinook, path);
const databases = openDatabases({ modules: import.meta.url });
afterAll(() => databases.close());
const ask = (sql: string, limits = {}) => databases.query({ engine: "sqlite", path }, sql, { limits });

test("values keep their kind, and rows end at their limit", async () => {
  expect(await ask("SELECT 1 AS a, 0.5, NULL, x'00ff', 9007199254740993, 'é'")).toEqual({
    kind: "rows",
    columns: ["a", "0.5", "NULL", "x'00ff'", "9007199254740993", "'é'"],
    rows: [[1n, 0.5, null, Uint8Array.of(0, 255), 9007199254740993n, "é"]],
  });
  expect(await ask("SELECT ArtistId FROM Artist ORDER BY 1", { rows: 2 })).toMatchObject({
    rows: [[1n], [2n]],
    more: "rows",
  });
  expect(await ask("SELECT hex(zeroblob(100)) FROM Track", { bytes: 1000 })).toMatchObject({ more: "bytes" });
});

test("what is more than a query is refused, with a reason, and changes nothing", async () => {
  const evil = join(folder, "evil");
  const before = readFileSync(path);
  const refused = [
    `ATTACH '${evil}' AS e`,
    `/* a query */ -- truly\n ATTACH '${evil}' AS e`,
    `VACUUM INTO '${evil}'`,
    "PRAGMA user_version = 5",
    "EXPLAIN PRAGMA user_version = 5",
    "SELECT * FROM pragma_database_list",
    "SELECT load_extension('x')",
    "SELECT 1; DROP TABLE Album",
    "; DROP TABLE Album",
    "DELETE FROM Album",
    "WITH x AS (SELECT 1) DELETE FROM Album",
    "CREATE TABLE x (y)",
    "BEGIN",
    "SELECT 1\0",
    "",
    "-- nothing",
  ];
  for (const sql of refused) {
    const outcome = await ask(sql);
    expect([sql, outcome.kind]).toEqual([sql, "refused"]);
  }
  expect(await ask("PRAGMA table_info(Album)")).toMatchObject({
    message: expect.stringContaining("`describe`"),
  });
  expect(await ask(`SELECT writefile('${evil}', 'x')`)).toMatchObject({ kind: "failed" });
  expect(await ask("SELECT * FROM Nope")).toMatchObject({
    kind: "failed",
    message: expect.stringMatching(/^no such table: Nope\. Tables: Album, Artist/),
  });
  expect(await ask("SELECT 'a;b' -- ; c")).toMatchObject({ rows: [["a;b"]] });
  expect(existsSync(evil)).toBe(false);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a hostile query is stopped at its time or its memory, and the next one is answered", async () => {
  const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";
  const [loop, sort, other] = await Promise.all([
    ask(`${endless} SELECT count(*) FROM c`, { seconds: 0.5 }),
    ask(`${endless} SELECT x, randomblob(9000000) FROM c ORDER BY 2`, { seconds: 60, memory: 300 }),
    ask("SELECT 1", { seconds: 60 }),
  ]);
  expect(loop).toEqual({
    kind: "time-limit",
    message: "the query ran for longer than 0.5 s and was stopped.",
  });
  expect(sort).toMatchObject({ kind: "memory-limit" });
  expect(other).toMatchObject({ rows: [[1n]] });
  expect(await ask("SELECT 2")).toMatchObject({ rows: [[2n]] });
});

test("nobody waits for an aborted query", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c";
  const asked = databases.query({ engine: "sqlite", path }, sql, { signal, limits: { seconds: 600 } });
  setTimeout(() => controller.abort(new Error("enough")), 100);
  await expect(asked).rejects.toThrow("enough");
});

test("a copy may be changed, and a change that is stopped is undone", async () => {
  const copy = join(folder, "copy.sqlite");
  copyFileSync(chinook, copy);
  const source = { engine: "sqlite" as const, path: copy, write: true };
  const change = (sql: string, limits = {}) => databases.query(source, sql, { limits });
  expect(await change("INSERT INTO Artist (Name) VALUES ('Nobody'), ('Somebody')")).toEqual({
    kind: "changed",
    changes: 2,
  });
  expect(await change("CREATE TABLE notes (text TEXT)")).toMatchObject({ kind: "changed" });
  const endless =
    "INSERT INTO notes WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 'much' FROM c";
  expect(await change(endless, { seconds: 0.5 })).toMatchObject({
    kind: expect.stringMatching(/limit|failed/),
  });
  expect(await change("SELECT count(*) FROM notes")).toMatchObject({ rows: [[0n]] });
  expect(await change("SELECT count(*) FROM Artist")).toMatchObject({ rows: [[277n]] });
  expect(await change(`ATTACH '${join(folder, "evil")}' AS e`)).toMatchObject({ kind: "refused" });
  expect(await change("CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END")).toMatchObject({
    kind: "refused",
  });
});

test("what is no database is nobody's query's fault", async () => {
  const text = join(folder, "text.sqlite");
  writeFileSync(text, "no database at all, though it is long enough to be looked at".repeat(100));
  const asked = (file: string) => databases.query({ engine: "sqlite", path: file }, "SELECT 1 FROM x");
  await expect(asked(text)).rejects.toMatchObject({ code: "DATABASE_UNUSABLE" });
  await expect(asked(join(folder, "nowhere.sqlite"))).rejects.toMatchObject({ code: "DATABASE_UNUSABLE" });
  const duckdb = openDatabases({ modules: `file://${folder}/index.js` });
  await expect(duckdb.query({ engine: "duckdb", path: text }, "SELECT 1")).rejects.toThrow(
    "npm install @duckdb/node-api",
  );
  duckdb.close();
});

test("tables are described with their columns and keys", async () => {
  const tables = await databases.describe({ engine: "sqlite", path });
  expect(tables).toHaveLength(11);
  expect(tables[0]).toBe(
    "Album(AlbumId INTEGER PRIMARY KEY, ArtistId INTEGER → Artist.ArtistId, Title TEXT)",
  );
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
