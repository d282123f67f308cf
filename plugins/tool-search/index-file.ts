import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { corpusDigest, type Passage, passages } from "./corpus.ts";

/** Of an index's form: another one is built anew. */
const form = 1;

/** A passage that was found; `score` is higher for better ones. */
export interface Found extends Passage {
  score: number;
}

/**
 * The full-text index of a corpus in the user's cache, named by the corpus' content: it is built once, beside its place, and then put
 * there whole; of two who build at once the first one's stays. Throws what is wrong with the corpus.
 */
export async function indexFile(corpus: string): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "everturn", "search");
  const path = join(cache, `${await corpusDigest(corpus)}-${form}.sqlite`);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  sweep(path);
  const work = `${path}.${process.pid}-${crypto.randomUUID()}`;
  try {
    await build(work, corpus);
    renameSync(work, path); // of the same content, if another one was first
  } finally {
    for (const ending of ["", "-journal"]) rmSync(work + ending, { force: true });
  }
  return path;
}

/** Removes what processes left that died while they built it. */
function sweep(path: string): void {
  const prefix = `${basename(path)}.`;
  for (const name of readdirSync(dirname(path)).filter((one) => one.startsWith(prefix))) {
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    if (!isAlive(pid)) rmSync(join(dirname(path), name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

async function build(path: string, corpus: string): Promise<void> {
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE VIRTUAL TABLE passages USING fts5(id UNINDEXED, title, text, tokenize = 'porter unicode61'); BEGIN`);
    const insert = database.prepare("INSERT INTO passages (id, title, text) VALUES (?, ?, ?)");
    for await (const { id, title, text } of passages(corpus)) insert.run(id, title, text);
    database.exec("COMMIT; INSERT INTO passages (passages) VALUES ('optimize')");
  } finally {
    database.close();
  }
}

/** An open index. Its queries are synchronous. */
export interface Index {
  find(query: string, topk: number): Found[];
  close(): void;
}

export function openIndex(path: string): Index {
  const database = new DatabaseSync(path, { readOnly: true });
  const match = database.prepare(
    "SELECT id, title, text, -bm25(passages, 0, 2, 1) AS score FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, 0, 2, 1), rowid LIMIT ?",
  );
  return {
    find: (query, topk) => {
      const terms = matchTerms(query);
      if (terms === "") return [];
      return match.all(terms, topk).map(({ id, title, text, score }) => ({
        ...{ id: String(id), title: String(title), text: String(text), score: Number(score) },
      }));
    },
    close: () => database.close(),
  };
}

/** The most words of a query that are looked for. */
const mostWords = 32;

/** A query as FTS5 takes it, whatever was written: any of its words, in quotes. */
export function matchTerms(query: string): string {
  const words = query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.toLowerCase()))]
    .slice(0, mostWords)
    .map((word) => `"${word}"`)
    .join(" OR ");
}
