import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { builtOnce } from "./built-once.ts";
import { corpusDigest, type Passage, passages } from "./corpus.ts";

/** The version of the index format. An index of another version is rebuilt. */
const form = 2;
const tokenizer = "porter unicode61";
/** A word in at least this share of the passages is common. */
const commonShare = 0.02;
/** MiB of the index that are kept in memory during searches. */
const askMemory = 64;

/** The folder of indexes in the user's cache. Each is named by the content of its corpus. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "everturn", "search");
}

/**
 * Returns the full-text index of a corpus. Builds it if it is not in the user's cache. Throws the problems of
 * the corpus.
 */
export async function indexFile(corpus: string, digest?: string): Promise<string> {
  const path = join(cacheFolder(), `${digest ?? (await corpusDigest(corpus))}-${form}.sqlite`);
  return builtOnce(path, (work) => build(work, corpus));
}

async function build(path: string, corpus: string): Promise<void> {
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE VIRTUAL TABLE passages USING fts5(id UNINDEXED, title, text, tokenize = '${tokenizer}'); BEGIN`);
    const insert = database.prepare("INSERT INTO passages (id, title, text) VALUES (?, ?, ?)");
    let count = 0;
    for await (const { id, title, text } of passages(corpus)) {
      insert.run(id, title, text);
      count++;
    }
    database.exec(`COMMIT; INSERT INTO passages (passages) VALUES ('optimize');
CREATE VIRTUAL TABLE words USING fts5vocab(passages, row);
CREATE TABLE common AS SELECT term FROM words WHERE doc > ${Math.max(10, commonShare * count)}; DROP TABLE words`);
  } finally {
    database.close();
  }
}

/** A passage by its number in the corpus, from 0. */
export interface Ranked {
  number: number;
  score: number;
}

/** An open index. Its queries are synchronous. */
export interface Index {
  /** Returns the best passages by bm25, where titles count twice. */
  best(query: string, most: number): Ranked[];
  passage(number: number): Passage;
  close(): void;
}

export function openIndex(path: string): Index {
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec(`PRAGMA cache_size = ${-1024 * askMemory}`);
  const common = new Set(
    database
      .prepare("SELECT term FROM common")
      .all()
      .map(({ term }) => String(term)),
  );
  const match = database.prepare(
    `SELECT rowid, -bm25(passages, 0, 2, 1) AS score FROM passages WHERE passages MATCH ?
ORDER BY bm25(passages, 0, 2, 1), rowid LIMIT ?`,
  );
  const stems = openStems();
  const byNumber = database.prepare("SELECT id, title, text FROM passages WHERE rowid = ?");
  const ask = (terms: string, most: number): Ranked[] =>
    match.all(terms, most).map(({ rowid, score }) => ({ number: Number(rowid) - 1, score: Number(score) }));
  return {
    best(query, most) {
      const words = queryWords(query);
      if (words.length === 0) return [];
      const rare = words.filter((word) => !stems.of(word).every((stem) => common.has(stem)));
      if (rare.length === 0 || rare.length === words.length) return ask(anyOf(words), most);
      const found = ask(amongRare(rare, words), most).map((one) => ({ ...one, score: one.score / 2 }));
      return found.length < most ? ask(anyOf(words), most) : found;
    },
    passage(number) {
      const row = byNumber.get(number + 1);
      if (row === undefined) throw new Error(`the index has no passage ${number}`);
      return { id: String(row.id), title: String(row.title), text: String(row.text) };
    },
    close() {
      database.close();
      stems.close();
    },
  };
}

/** The maximum number of words in a query. */
const mostWords = 32;

/** The words of any query. Punctuation is ignored. */
export function queryWords(query: string): string[] {
  const words = query.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.toLowerCase()))].slice(0, mostWords);
}

function anyOf(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" OR ");
}

/**
 * Finds passages that contain a rare word, and scores them by all words. Each word appears twice: only the
 * lists of rare words find passages, and those of common words are merely looked up. A passage with only
 * common words would not be among the best.
 */
function amongRare(rare: readonly string[], words: readonly string[]): string {
  const common = words.filter((word) => !rare.includes(word));
  return `(${anyOf(rare)}) AND (${anyOf([...rare, ...common, ...common])})`;
}

/** Returns the index's stem of a word, or several stems if the index splits the word. */
function openStems(): { of(word: string): string[]; close(): void } {
  const database = new DatabaseSync(":memory:");
  database.exec(`CREATE VIRTUAL TABLE text USING fts5(word, tokenize = '${tokenizer}');
CREATE VIRTUAL TABLE stems USING fts5vocab(text, row)`);
  const insert = database.prepare("INSERT INTO text (rowid, word) VALUES (1, ?)");
  const select = database.prepare("SELECT term FROM stems");
  return {
    of(word) {
      database.exec("BEGIN");
      insert.run(word);
      const found = select.all().map(({ term }) => String(term));
      database.exec("ROLLBACK");
      return found;
    },
    close: () => database.close(),
  };
}
