// What a query of the tool `search` costs beside the bare full-text search of SQLite and DuckDB:
// `node benchmarks/search.ts [--passages 1000000] [--queries 200] [--duckdb-fts fts.duckdb_extension] [--json]`

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { defined } from "../src/base/records/defined.ts";
import { writeCorpus } from "./search/corpus.ts";
import { duckdb, type Engine, sqlite, tool } from "./search/engines.ts";

const { values } = parseArgs({
  options: {
    passages: { type: "string", default: "1000000" },
    queries: { type: "string", default: "200" },
    "duckdb-fts": { type: "string" },
    json: { type: "boolean", default: false },
    /** Of a process of its own, whose memory is measured. */
    build: { type: "string" },
  },
});

const folder = join(tmpdir(), `everturn-search-${values.passages}`);
const corpus = join(folder, "passages.jsonl");
const queriesFile = join(folder, "queries.json");
process.env.XDG_CACHE_HOME = join(folder, "cache");
mkdirSync(folder, { recursive: true });

const fts = values["duckdb-fts"];
const engines: Record<string, Engine> = defined({
  "tool-search": tool(corpus),
  "SQLite's FTS5": sqlite(corpus, folder),
  "DuckDB's fts": fts === undefined ? undefined : duckdb(corpus, folder, fts),
});

if (values.build !== undefined) {
  const began = performance.now();
  const bytes = (await engines[values.build]?.build()) ?? 0;
  const seconds = (performance.now() - began) / 1000;
  process.stdout.write(JSON.stringify({ bytes, seconds, memory: process.resourceUsage().maxRSS / 1024 }));
  process.exit();
}

if (!existsSync(queriesFile)) {
  const asked = await writeCorpus(corpus, Number(values.passages), Number(values.queries));
  writeFileSync(queriesFile, JSON.stringify(asked));
}
const queries: string[] = JSON.parse(readFileSync(queriesFile, "utf8")).slice(0, Number(values.queries));
process.stdout.write(
  `${values.passages} passages, ${(statSync(corpus).size / 1e6).toFixed(0)} MB; ${queries.length} queries, three passages each\n`,
);

const measured = [];
for (const name of Object.keys(engines)) {
  const told = execFileSync(process.execPath, [...process.argv.slice(1), "--build", name], {
    encoding: "utf8",
  });
  const build: { bytes: number; seconds: number; memory: number } = JSON.parse(told);
  measured.push({ name, build, times: [] as number[], ask: await engines[name]!.open() });
  process.stdout.write(
    `${name}: indexed in ${build.seconds.toFixed(0)} s, ${(build.bytes / 1e6).toFixed(0)} MB, at most ${build.memory.toFixed(0)} MiB of memory\n`,
  );
}
for (const { ask } of measured) for (const query of queries.slice(0, 3)) await ask(query);
for (const query of queries)
  for (const { ask, times } of measured) {
    const began = performance.now();
    await ask(query);
    times.push(performance.now() - began);
  }
const rows = measured.map(({ name, build, times }) => {
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
  return { name, ...build, p50: at(0.5), p99: at(0.99) };
});
for (const { name, p50, p99 } of rows)
  process.stdout.write(`${name}: a query p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`);
process.stdout.write(
  `memory of the process that asked them all: ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB\n`,
);
if (values.json) process.stdout.write(`${JSON.stringify({ passages: Number(values.passages), rows })}\n`);
process.exit();
