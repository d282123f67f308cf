import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "everturn/plugin";
import { expect, test } from "vitest";
import search from "../../../plugins/tool-search/index.ts";
import { indexFile, openIndex, queryWords } from "../../../plugins/tool-search/index-file.ts";
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
  for (const query of odd) expect(() => index.find(query, 3)).not.toThrow();
  expect(index.find("Faust AND", 3)[0]?.title).toBe("Faust");
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
  expect(index.find("elbe", 3)).toMatchObject([{ id: "a.md", title: "Rivers" }]);
  expect(index.find("word", 100).length).toBeGreaterThan(2);
  index.close();
  writeFileSync(join(texts, "a.md"), "# Rivers\n\nThe Spree flows through Berlin.");
  expect(await indexFile(texts)).not.toBe(one);
  expect(readdirSync(cache).every((name) => name.endsWith(".sqlite"))).toBe(true);
});

test("a builder that is killed half-way leaves no index, and what it left is swept", async () => {
  const large = join(folder, "large.jsonl");
  const line = `${JSON.stringify({ title: "t", text: "some words ".repeat(50) })}\n`;
  writeFileSync(large, line.repeat(30_000));
  const module = join(import.meta.dirname, "../../../plugins/tool-search/index-file.ts");
  const before = new Set(readdirSync(cache));
  const code = `import { indexFile } from ${JSON.stringify(module)}; await indexFile(${JSON.stringify(large)});`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: "ignore" });
  const fresh = () => readdirSync(cache).filter((name) => !before.has(name));
  while (fresh().length === 0 && child.exitCode === null) await sleep(5);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(fresh().every((name) => !name.endsWith(".sqlite"))).toBe(true);
  const built = await indexFile(large);
  expect(existsSync(built)).toBe(true);
  expect(fresh().every((name) => name.endsWith(".sqlite"))).toBe(true);
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
