import { parentPort, workerData } from "node:worker_threads";
import type { Answer, Question } from "./embedded.ts";
import { type Index, indexFile, openIndex } from "./index-file.ts";

// The thread in which a corpus is indexed and searched: SQLite's calls are synchronous.

const port = parentPort;
if (port === null) throw new Error("search-thread.ts is run in a thread");
let opened: Promise<Index> | undefined;

/** What could not be indexed is tried again with the next question. */
async function index(): Promise<Index> {
  opened ??= indexFile(String(workerData)).then(openIndex);
  try {
    return await opened;
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

port.on("message", ({ number, query, topk }: Question) => {
  index()
    .then((found) => found.find(query, topk))
    .then(
      (found): Answer => ({ number, found }),
      (error: unknown): Answer => ({
        number,
        failed: error instanceof Error ? error.message : String(error),
      }),
    )
    .then((answer) => port.postMessage(answer));
});
