import { DatabaseSync } from "node:sqlite";
import type { ChainLink } from "../step-chain.ts";

/**
 * The checkpoints that the weights at `path` descend from, oldest first, and itself. Reads only Hatchery's queue, in which every job
 * has a row: a model's jobs are executed in the order of their numbers.
 */
export function jobChain(queue: string, path: string): ChainLink[] {
  const jobs = new DatabaseSync(queue, { readOnly: true });
  try {
    const chain: ChainLink[] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const { steps, before } = linkOf(jobs, next);
      chain.unshift({ path: next, steps });
      next = before;
    }
    return chain;
  } finally {
    jobs.close();
  }
}

/** The number of optimizer steps before a checkpoint, back to the one before it in its model, or to the one that the model loaded. */
function linkOf(jobs: DatabaseSync, path: string): { steps: number; before: string | undefined } {
  const [, model = "", name = ""] = /^tinker:\/\/([^/]+)\/checkpoints\/([^/]+)$/.exec(path) ?? [];
  const completed = jobs.prepare(
    "SELECT operation, payload FROM queue_jobs WHERE session_id = ? AND state = 'completed' ORDER BY seq",
  );
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
  const jobs = new DatabaseSync(queue, { readOnly: true });
  try {
    const saved =
      "SELECT count(*) AS saved FROM queue_jobs WHERE operation = 'save_weights' AND state = 'completed'";
    return Number(jobs.prepare(saved).get()?.saved);
  } finally {
    jobs.close();
  }
}
