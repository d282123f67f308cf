import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "everturn/plugin";
import { expect, test } from "vitest";
import search from "../../../plugins/tool-search/index.ts";
import { indexFile, openIndex, queryWords } from "../../../plugins/tool-search/index-file.ts";
import { fused } from "../../../plugins/tool-search/open-corpus.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
process.env.XDG_CACHE_HOME = join(folder, "cache");
const cache = join(folder, "cache", "everturn", "search");
const corpus = join(folder, "passages.jsonl");
const rows = [
  { id: "0", contents: '"Faust"\nFaust is a tragic play by Goethe.' },
  { id: "1", contents: '"Hamlet"\nHamlet is a tragedy by Shakespeare, longer than others.' },
  { id: "2", title: "Paris", text: "Paris is the capital of France." },
];
writeFileSync(corpus, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

function ask(query: string, config: JsonObject = { corpus }, signal = new AbortController().signal) {
  const execution = { instance: "i", function: "", key: "k", attempt: 1, config, signal, isReplay: false };
  return search.execute({ query }, execution, undefined);
}

test("the passages that fit best are told, with their titles", async () => {
  expect(await ask("Who wrote the play Faust?", { corpus, topk: 1 })).toEqual({
    text: "Doc 1 (Title: Faust): Faust is a tragic play by Goethe.",
    metrics: { passages: 1 },
  });
  expect(await ask("tragedies")).toMatchObject({ text: expect.stringContaining("Hamlet") });
  expect(await ask("quasar")).toEqual({ text: "No passages were found. Try other words." });
  expect(await ask("France", { corpus, characters: 100, topk: 1 })).toMatchObject({
    text: "Doc 1 (Title: Paris): Paris is the capital of France.",
  });
});

test("whatever the model writes is a query", async () => {
  const index = openIndex(await indexFile(corpus));
  const odd = [
    '"',
    "AND",
    "NEAR(a b)",
    "title:Faust",
    "*",
    "a AND (",
    "-",
    "{x}:",
    "\0",
    "😀",
    "^",
    "a".repeat(100_000),
    "' OR 1=1",
  ];
  for (const query of odd) expect(() => index.best(query, 3)).not.toThrow();
  expect(index.passage(index.best("Faust AND", 3)[0]?.number ?? -1).title).toBe("Faust");
  expect(queryWords('the "Faust" AND faust')).toEqual(["the", "faust", "and"]);
  index.close();
});

test("a corpus is indexed once by its content; two may build at once; a folder is a corpus", async () => {
  const texts = join(folder, "texts");
  mkdirSync(join(texts, "b"), { recursive: true });
  writeFileSync(join(texts, "a.md"), "# Rivers\n\nThe Elbe flows through Dresden.");
  writeFileSync(
    join(texts, "b", "long.txt"),
    Array(50)
      .fill(`${"word ".repeat(20)}`)
      .join("\n\n"),
  );
  const [one, other] = await Promise.all([indexFile(texts), indexFile(texts)]);
  expect(one).toBe(other);
  expect(await indexFile(texts)).toBe(one);
  const index = openIndex(one);
  expect(index.best("elbe", 3).map(({ number }) => index.passage(number))).toMatchObject([
    { id: "a.md", title: "Rivers" },
  ]);
  expect(index.best("word", 100).length).toBeGreaterThan(2);
  index.close();
  writeFileSync(join(texts, "a.md"), "# Rivers\n\nThe Spree flows through Berlin.");
  expect(await indexFile(texts)).not.toBe(one);
  expect(readdirSync(cache).every((name) => /\.sqlite(\.lock)?$/.test(name))).toBe(true);
});

/** A process that builds an index, and says how often it did so. */
function builder(of: string) {
  const module = join(import.meta.dirname, "../../../plugins/tool-search/built-once.ts");
  const code = `import { writeFileSync } from "node:fs"; import { builtOnce } from ${JSON.stringify(module)};
await builtOnce(${JSON.stringify(of)}, async (work) => { writeFileSync(work, "half"); console.log("begun"); await new Promise((go) => process.stdin.once("data", go)); writeFileSync(work, "whole"); });
console.log("there"); process.exit()`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  return { child, said: createInterface(child.stdout) };
}

test("of several who want an index one builds it; if that one is killed half-way, the next one begins anew", async () => {
  const path = join(folder, "built", "once");
  const first = builder(path);
  expect(await once(first.said, "line")).toEqual(["begun"]);
  expect(existsSync(path)).toBe(false);
  const others = [builder(path), builder(path)];
  first.child.kill("SIGKILL");
  const said: string[][] = others.map(() => []);
  for (const [number, { child, said: lines }] of others.entries())
    lines.on("line", (line) => {
      said[number]?.push(line);
      if (line === "begun") child.stdin.write("go\n");
    });
  await Promise.all(others.map(({ said: lines }) => once(lines, "close")));
  expect(said.map((lines) => lines.join()).sort()).toEqual(["begun,there", "there"]);
  expect(readFileSync(path, "utf8")).toBe("whole");
  expect(readdirSync(join(folder, "built"))).toEqual(["once", "once.lock"]);
});

test("common words are looked into only, and the passages with rare ones are the same, in the same order", async () => {
  const mixed = join(folder, "mixed.jsonl");
  const words = (seed: number) =>
    Array.from({ length: 8 }, (_, at) => `w${(seed * (at + 3) ** 2) % 97}`).join(" ");
  const lines = Array.from({ length: 400 }, (_, number) =>
    JSON.stringify({
      title: `t${number % 7}`,
      text: `${number % 3 ? "the running of" : "of"} ${words(number)}`,
    }),
  );
  writeFileSync(mixed, lines.join("\n"));
  const path = await indexFile(mixed);
  const index = openIndex(path);
  const database = new DatabaseSync(path);
  const plain = database.prepare(
    "SELECT rowid - 1 AS number FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, 0, 2, 1), rowid LIMIT 5",
  );
  expect(database.prepare("SELECT count(*) AS many FROM common").get()?.many).toBeGreaterThan(3);
  for (const query of ["the w1 of", "running runs w2 w40", "w5 w6 w7 the", "of the", "the w96"]) {
    const every = plain.all(
      queryWords(query)
        .map((word) => `"${word}"`)
        .join(" OR "),
    );
    expect(
      index.best(query, 5).map(({ number }) => number),
      query,
    ).toEqual(every.map(({ number }) => number));
  }
  index.close();
  database.close();
});

test("by an embedding model passages are found by their vectors, and by both rankings together", async () => {
  const model = join(import.meta.dirname, "../../fixtures/embedding/tiny-bert");
  const dense = { corpus, topk: 2, embedding: { model, rank: "dense" } };
  // Its weights are random: the nearest text to a passage's own is still that passage.
  expect(await ask("Paris\nParis is the capital of France.", dense)).toMatchObject({
    text: expect.stringMatching(/^Doc 1 \(Title: Paris\)/),
    metrics: { passages: 2 },
  });
  expect(await ask("zzz", dense)).toMatchObject({ metrics: { passages: 2 } });
  expect(await ask("Goethe", { corpus, topk: 3, embedding: { model } })).toMatchObject({
    text: expect.stringMatching(/^Doc 1 \(Title: Faust\)/),
    metrics: { passages: 3 },
  });
  expect(readdirSync(cache).filter((name) => name.endsWith(".vectors"))).toHaveLength(1);
  const [first, second] = fused([
    [1, 2, 3].map((number) => ({ number, score: 0 })),
    [4, 2, 5].map((number) => ({ number, score: 9 })),
  ]);
  expect(first).toEqual({ number: 2, score: 2 / 62 });
  expect(second).toEqual({ number: 1, score: 1 / 61 });
  await expect(ask("a", { corpus, embedding: { model: folder } })).rejects.toThrow("config.json");
});

test("a server of Search-R1's protocol is asked; its failures are thrown", async () => {
  const asked: unknown[] = [];
  let status = 200;
  const server = createServer(async (request, response) => {
    asked.push([request.url, JSON.parse((await request.setEncoding("utf8").toArray()).join(""))]);
    const document = { id: "7", contents: '"Faust"\nA play.' };
    response
      .writeHead(status)
      .end(JSON.stringify({ result: [[{ document, score: 0.5 }, { contents: "No title" }]] }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const url = `http://127.0.0.1:${address.port}/retrieve`;
  expect(await ask("faust", { url, topk: 2 })).toEqual({
    text: "Doc 1 (Title: Faust): A play.\nDoc 2: No title",
    metrics: { passages: 2 },
  });
  expect(asked).toEqual([["/retrieve", { queries: ["faust"], topk: 2, return_scores: true }]]);
  status = 503;
  await expect(ask("faust", { url })).rejects.toThrow("answered 503");
  server.close();
});

test("a web search's API is asked by declaration, with its key from the environment", async () => {
  const asked: unknown[] = [];
  let answer: unknown = {
    data: { organic: [{ name: "Faust", snippet: "A play.", link: "a" }, { snippet: "B" }] },
  };
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding("utf8").toArray()).join("");
    asked.push([
      request.method,
      request.url,
      request.headers["x-api-key"] ?? request.headers.authorization,
      body,
    ]);
    response.end(JSON.stringify(answer));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const url = `http://127.0.0.1:${address.port}/search`;
  const where = { passages: "data.organic", title: "name", text: "snippet" };
  process.env.SEARCH_TEST_KEY = "secret";
  const posted = {
    body: { q: "$query", num: "$topk" },
    answer: where,
    key: { variable: "SEARCH_TEST_KEY", header: "X-API-KEY" },
  };
  expect(await ask("$topk faust", { url, topk: 5, web: posted })).toEqual({
    text: "Doc 1 (Title: Faust): A play.\nDoc 2: B",
    metrics: { passages: 2 },
  });
  const got = { answer: where, key: { variable: "SEARCH_TEST_KEY" } };
  await ask("a&b c", { url: `${url}?q=$query&count=$topk`, topk: 1, web: got });
  expect(asked).toEqual([
    ["POST", "/search", "secret", '{"q":"$topk faust","num":5}'],
    ["GET", "/search?q=a%26b%20c&count=1", "Bearer secret", ""],
  ]);
  answer = {};
  expect(await ask("nothing", { url, web: posted })).toMatchObject({
    text: expect.stringContaining("No passages"),
  });
  answer = { data: { organic: [{}] } };
  await expect(ask("x", { url, web: posted })).rejects.toThrow("without “snippet”");
  const keyless = { answer: where, key: { variable: "SEARCH_TEST_NO_KEY" } };
  await expect(ask("x", { url, web: keyless })).rejects.toThrow("no environment variable SEARCH_TEST_NO_KEY");
  server.close();
});

test("what is wrong with a corpus is said with its line, and an aborted call ends", async () => {
  const broken = join(folder, "broken.jsonl");
  writeFileSync(broken, '{"contents": "a\\nb"}\n{"content": "c"}\n');
  await expect(ask("a", { corpus: broken })).rejects.toThrow(
    "broken.jsonl:2 has neither “contents” nor “text”",
  );
  writeFileSync(broken, '{"contents": "a\\nmended"}\n');
  expect(await ask("mended", { corpus: broken })).toMatchObject({ text: expect.stringContaining("mended") });
  await expect(ask("a", { corpus }, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  await expect(ask("a", {})).rejects.toThrow("either “corpus”");
});
