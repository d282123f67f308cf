import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import search from "@everturn/tool-search";
import { passages } from "../../plugins/tool-search/corpus.ts";
import { indexFile, queryWords } from "../../plugins/tool-search/index-file.ts";

/** What can be asked for the passages that fit a query best. */
export interface Engine {
  /** Bytes of its index. */
  build(): Promise<number>;
  open(): Promise<(query: string) => Promise<number>>;
}

const topk = 3;

/** The tool itself, as a trajectory calls it, with its thread. */
export function tool(corpus: string): Engine {
  const signal = new AbortController().signal;
  const execution = {
    function: "search",
    instance: "i",
    key: "k",
    attempt: 1,
    config: { corpus, topk },
    signal,
    isReplay: false,
  };
  return {
    build: async () => statSync(await indexFile(corpus)).size,
    open: async () => async (query) => {
      const answer = JSON.stringify(await search.execute({ query }, execution, undefined));
      return answer.split("Doc ").length - 1;
    },
  };
}

/** FTS5 as its documentation shows it, with the tool's tokenizer: any word of the query, the best by rank. */
export function sqlite(corpus: string, folder: string): Engine {
  const path = join(folder, "bare.sqlite");
  return {
    async build() {
      if (existsSync(path)) return statSync(path).size;
      const database = new DatabaseSync(path);
      database.exec(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE passages USING fts5(id UNINDEXED, title, text, tokenize = 'porter unicode61'); BEGIN",
      );
      const insert = database.prepare("INSERT INTO passages VALUES (?, ?, ?)");
      for await (const { id, title, text } of passages(corpus)) insert.run(id, title, text);
      database.exec("COMMIT; INSERT INTO passages (passages) VALUES ('optimize')");
      database.close();
      return statSync(path).size;
    },
    async open() {
      const database = new DatabaseSync(path, { readOnly: true });
      const ask = database.prepare(
        `SELECT id, title, text, rank FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ${topk}`,
      );
      const terms = (query: string) =>
        queryWords(query)
          .map((word) => `"${word}"`)
          .join(" OR ");
      return async (query) => ask.all(terms(query)).length;
    },
  };
}

/** DuckDB with its extension `fts`, whose file has to be there: nothing is fetched. */
export function duckdb(corpus: string, folder: string, extension: string): Engine {
  const path = join(folder, "bare.duckdb");
  const connected = async () => {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(path, { threads: "2", memory_limit: "8GB" });
    const connection = await instance.connect();
    await connection.run(`LOAD '${extension}'`);
    return connection;
  };
  return {
    async build() {
      if (existsSync(path)) return statSync(path).size;
      const connection = await connected();
      await connection.run(
        `CREATE TABLE passages AS SELECT id, split_part(contents, chr(10), 1) AS title, split_part(contents, chr(10), 2) AS text FROM read_json('${corpus}', format = 'newline_delimited')`,
      );
      await connection.run(
        "PRAGMA create_fts_index('passages', 'id', 'title', 'text', stopwords = 'none'); CHECKPOINT",
      );
      connection.closeSync();
      return statSync(path).size;
    },
    async open() {
      const connection = await connected();
      const ask = await connection.prepare(
        `SELECT id, title, text, fts_main_passages.match_bm25(id, $1) AS score FROM passages WHERE score IS NOT NULL ORDER BY score DESC LIMIT ${topk}`,
      );
      return async (query) => {
        ask.bindVarchar(1, query);
        return (await ask.runAndReadAll()).getRows().length;
      };
    },
  };
}
