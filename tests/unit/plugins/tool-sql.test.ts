import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject, ToolCreation } from "everturn/plugin";
import { expect, test } from "vitest";
import sql from "../../../plugins/tool-sql/index.ts";
import { jsonOf, tellRows, textOf } from "../../../plugins/tool-sql/tell.ts";

const database = join(import.meta.dirname, "..", "..", "..", "pipelines", "chinook-sql", "chinook.sqlite");
const signal = new AbortController().signal;
const task = {
  data_source: "chinook",
  prompt: [{ role: "user" as const, content: "?" }],
  reward_model: { ground_truth: "" },
};

/** An instance of the tool, asked as a worker asks it. */
async function session(config: JsonObject = {}, snapshot?: Uint8Array) {
  const held: unknown[] = [];
  const given = { database, limits: { seconds: 60 }, ...config };
  const creation: ToolCreation = {
    instance: "i",
    task,
    config: given,
    environment: {},
    signal,
    hold: (handle) => void held.push(handle),
  };
  const state = await (snapshot === undefined ? sql.create?.(creation) : sql.restore?.(snapshot, creation));
  if (state === undefined) throw new Error("no state");
  const execution = {
    instance: "i",
    function: "",
    key: "k",
    attempt: 1,
    config: given,
    signal,
    isReplay: false,
  };
  return { state, held, ask: (parameters: JsonObject) => sql.execute(parameters, execution, state) };
}

test("rows are told as a table, or as JSON; what is wrong is told to the model", async () => {
  const { ask } = await session();
  expect(await ask({ query: "SELECT Title, ArtistId FROM Album LIMIT 2" })).toEqual({
    text: "Title | ArtistId\nFor Those About To Rock We Salute You | 1\nBalls to the Wall | 2\n(2 rows)",
  });
  const json = await session({ format: "json" });
  expect(await json.ask({ query: "SELECT Name, NULL FROM Genre LIMIT 1" })).toEqual({
    text: '{"columns": ["Name","NULL"], "rows": [["Rock",null]]}',
  });
  expect(await ask({ query: "DROP TABLE Album" })).toMatchObject({
    error: true,
    text: expect.stringContaining("error: DROP is not allowed here"),
  });
  expect(await ask({ query: "SELECT 1", describe: "*" })).toMatchObject({ error: true });
  expect(await ask({ describe: "album" })).toEqual({
    text: "Album(AlbumId INTEGER PRIMARY KEY, ArtistId INTEGER → Artist.ArtistId, Title TEXT)",
  });
  expect(await ask({ describe: "Albums" })).toMatchObject({
    error: true,
    text: expect.stringContaining("Tables: Album, Artist"),
  });
  expect(await ask({ query: "SELECT * FROM Track" })).toMatchObject({
    text: expect.stringMatching(/\n\(\d+ rows shown, there are more: narrow the query.*\)$/),
  });
});

test("each value is told in one way, which can't be taken for another's", () => {
  expect(
    [null, 1n, 9007199254740993n, 0.5, true, "a b", "2007-01-01", Uint8Array.of(0, 255)].map(textOf),
  ).toEqual(["NULL", "1", "9007199254740993", "0.5", "true", "a b", "2007-01-01", "x'00ff'"]);
  expect(["null", "1", "", " a", "a|b", "a\nb", "x'00'"].map(textOf)).toEqual([
    '"null"',
    '"1"',
    '""',
    '" a"',
    '"a|b"',
    '"a\\nb"',
    "\"x'00'\"",
  ]);
  expect([1n, 9007199254740993n, Number.NaN, "1", Uint8Array.of(0)].map(jsonOf)).toEqual([
    1,
    "9007199254740993",
    "NaN",
    "1",
    "x'00'",
  ]);
  const long = textOf("é".repeat(2000));
  expect(long.length).toBeLessThan(600);
  expect(long).toContain("(2002 characters)");
  const rows = Array.from({ length: 100 }, (_, index) => [BigInt(index), "some text"]);
  const told = tellRows({ kind: "rows", columns: ["n", "t"], rows }, { format: "text", characters: 200 });
  expect(told.length).toBeLessThan(320);
  expect(told).toMatch(/\(\d+ rows shown, there are more/);
});

test("with write: true a trajectory changes a copy of its own, which its snapshot restores", async () => {
  const write = { write: true };
  const [one, other] = [await session(write), await session(write)];
  const count = { query: "SELECT count(*) AS n FROM Artist" };
  expect(await one.ask({ query: "INSERT INTO Artist (Name) VALUES ('One'), ('Two')" })).toEqual({
    text: "(2 rows changed)",
  });
  expect(await one.ask(count)).toEqual({ text: "n\n277\n(1 row)" });
  expect(await other.ask(count)).toEqual({ text: "n\n275\n(1 row)" });
  const snapshot = await sql.snapshot?.(one.state);
  const restored = await session(write, snapshot);
  expect(await restored.ask(count)).toEqual({ text: "n\n277\n(1 row)" });
  await sql.release?.(one.state);
  await sql.release?.(restored.state);
  await sql.reap?.(String(other.held[0]), {});
  for (const { held } of [one, other, restored]) expect(existsSync(String(held[0]))).toBe(false);
  const reading = await session();
  expect(await sql.snapshot?.(reading.state)).toEqual(new Uint8Array());
  expect(reading.held).toEqual([]);
  expect(await reading.ask(count)).toEqual({ text: "n\n275\n(1 row)" });
  await sql.reap?.(join(database, ".."), {});
  expect(existsSync(database)).toBe(true);
});
