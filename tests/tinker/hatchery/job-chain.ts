import type { StatementSync } from "node:sqlite";
import { type ChainLink, chainTo, type Origin, readRecords } from "../server-records.ts";

/**
 * The checkpoints that the weights at `path` descend from, oldest first, and itself. Reads only Hatchery's queue, in which every job
 * has a row: a model's jobs are executed in the order of their numbers.
 */
export function jobChain(queue: string, path: string): ChainLink[] {
  return readRecords(queue, (jobs) => {
    const completed = jobs.prepare(
      "SELECT operation, payload FROM queue_jobs WHERE session_id = ? AND state = 'completed' ORDER BY seq",
    );
    return chainTo(path, (next) => originOf(completed, next));
  });
}

function originOf(completed: StatementSync, path: string): Origin {
  const [, model = "", name = ""] = /^tinker:\/\/([^/]+)\/checkpoints\/([^/]+)$/.exec(path) ?? [];
  let steps = 0;
  let before: string | undefined;
  for (const { operation, payload } of completed.iterate(model)) {
    // The payload is MessagePack, in which texts are UTF-8.
    const texts = payload instanceof Uint8Array ? Buffer.from(payload).toString("latin1") : "";
    if (operation === "optim_step") steps++;
    if (operation === "load_weights") {
      const [, source, checkpoint] = /sessions\/([\w-]+)\/checkpoints\/([\w.-]+?)[^\w.-]/.exec(texts) ?? [];
      before = `tinker://${source}/checkpoints/${checkpoint}`;
      steps = 0;
    }
    if (operation !== "save_weights") continue;
    if (texts.includes(name)) return { steps, before };
    before = undefined; // a second checkpoint of a model would be wrong
    steps = Number.NaN;
  }
  throw new Error(`the server has not saved ${path}`);
}

/** How many checkpoints the server has saved. */
export function savedCheckpoints(queue: string): number {
  const saved =
    "SELECT count(*) AS saved FROM queue_jobs WHERE operation = 'save_weights' AND state = 'completed'";
  return readRecords(queue, (jobs) => Number(jobs.prepare(saved).get()?.saved));
}
