import { parentPort, workerData } from "node:worker_threads";
import type { Answer, Question } from "./embedded.ts";
import { type FindPassages, openCorpus } from "./open-corpus.ts";

// The thread that indexes and searches a corpus. SQLite's calls are synchronous.

const port = parentPort;
if (port === null) throw new Error("search-thread.ts is run in a thread");
let opened: Promise<FindPassages> | undefined;

/** Opens the corpus. After a failure, the next query tries again. */
async function find(): Promise<FindPassages> {
  opened ??= openCorpus(workerData);
  try {
    return await opened;
  } catch (error) {
    opened = undefined;
    throw error;
  }
}

port.on("message", ({ number, query, topk }: Question) => {
  find()
    .then((ask) => ask(query, topk))
    .then(
      (found): Answer => ({ number, found }),
      (error: unknown): Answer => ({
        number,
        failed: error instanceof Error ? error.message : String(error),
      }),
    )
    .then((answer) => port.postMessage(answer));
});
