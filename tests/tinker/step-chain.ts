import { DatabaseSync, type StatementSync } from "node:sqlite";

/** A checkpoint on a server, and what the server executed to make it. */
export interface ChainLink {
  path: string;
  /** Optimizer steps since the checkpoint before it. */
  steps: number;
}

/**
 * The checkpoints that the weights at `path` descend from, oldest first, and itself. Reads only SkyRL's database, in which every
 * request has a row: a model's requests are executed in the order of their numbers, and one that loads a checkpoint is its first.
 */
export function stepChain(database: string, path: string): ChainLink[] {
  const requests = new DatabaseSync(database, { readOnly: true });
  try {
    const completed = requests.prepare(
      `SELECT request_type AS type, json_extract(request_data, '$.path') AS name,
         json_extract(request_data, '$.source_model_id') AS model, json_extract(request_data, '$.checkpoint_id') AS checkpoint
       FROM futures WHERE model_id = ? AND status = 'COMPLETED' ORDER BY request_id`,
    );
    const chain: ChainLink[] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const { steps, before } = linkOf(completed, next);
      chain.unshift({ path: next, steps });
      next = before;
    }
    return chain;
  } finally {
    requests.close();
  }
}

/** The number of optimizer steps before a checkpoint, back to the one before it in its model, or to the one that the model loaded. */
function linkOf(completed: StatementSync, path: string): { steps: number; before: string | undefined } {
  const [, model = "", name = ""] = /^tinker:\/\/([^/]+)\/weights\/([^/]+)$/.exec(path) ?? [];
  let steps = 0;
  let before: string | undefined;
  for (const request of completed.iterate(model)) {
    if (request.type === "OPTIM_STEP") steps++;
    if (request.type === "LOAD_WEIGHTS") {
      before = `tinker://${request.model}/weights/${request.checkpoint}`;
      steps = 0;
    }
    if (request.type !== "SAVE_WEIGHTS") continue;
    if (request.name === name) return { steps, before };
    before = `tinker://${model}/weights/${request.name}`;
    steps = 0;
  }
  throw new Error(`the server has not saved ${path}`);
}

/** How many checkpoints the server has saved. */
export function savedCheckpoints(database: string): number {
  const requests = new DatabaseSync(database, { readOnly: true });
  try {
    const saved =
      "SELECT count(*) AS saved FROM futures WHERE request_type = 'SAVE_WEIGHTS' AND status = 'COMPLETED'";
    return Number(requests.prepare(saved).get()?.saved);
  } finally {
    requests.close();
  }
}
