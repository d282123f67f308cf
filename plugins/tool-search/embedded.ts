import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Found } from "./corpus.ts";
import type { CorpusSource } from "./open-corpus.ts";

export interface Question {
  number: number;
  query: string;
  topk: number;
}

export type Answer = { number: number; found: Found[] } | { number: number; failed: string };

export type Search = (query: string, topk: number, signal: AbortSignal) => Promise<Found[]>;

/**
 * Searches a corpus of files in a separate thread. The thread first indexes the corpus, unless the cache has
 * its index.
 */
export function searchCorpus(source: CorpusSource): Search {
  const { corpus } = source;
  const module = join(import.meta.dirname, `search-thread${extname(import.meta.filename)}`);
  const thread = new Worker(module, { workerData: source, execArgv: [] });
  thread.unref();
  const asked = new Map<number, (answer: Answer) => void>();
  let newest = 0;
  let ended: string | undefined;
  const fail = (reason: string) => {
    ended = reason;
    for (const [number, tell] of asked) tell({ number, failed: reason });
  };
  thread.on("error", (error) => fail(String(error)));
  thread.on("exit", (code) => fail(ended ?? `its thread ended with exit code ${code}`));
  thread.on("message", (answer: Answer) => asked.get(answer.number)?.(answer));
  return async (query, topk, signal) => {
    signal.throwIfAborted();
    if (ended !== undefined) throw new Error(`${corpus} can't be searched: ${ended}`);
    const number = ++newest;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    asked.set(number, resolve);
    thread.ref();
    try {
      thread.postMessage({ number, query, topk } satisfies Question);
      const answer = await promise;
      if ("failed" in answer) throw new Error(`${corpus} can't be searched: ${answer.failed}`);
      return answer.found;
    } finally {
      asked.delete(number);
      signal.removeEventListener("abort", abort);
      if (asked.size === 0) thread.unref();
    }
  };
}
