import type { StatementSync } from "node:sqlite";
import { type ChainLink, chainTo, type Origin, readRecords } from "./server-records.ts";

/**
 * The checkpoints that the weights at `path` descend from, oldest first, and itself. Reads only SkyRL's database, in which every
 * request has a row: a model's requests are executed in the order of their numbers, and one that loads a checkpoint is its first.
 */
export function stepChain(database: string, path: string): ChainLink[] {
  return readRecords(database, (requests) => {
    const completed = requests.prepare(
      `SELECT request_type AS type, json_extract(request_data, '$.path') AS name,
         json_extract(request_data, '$.source_model_id') AS model, json_extract(request_data, '$.checkpoint_id') AS checkpoint
       FROM futures WHERE model_id = ? AND status = 'COMPLETED' ORDER BY request_id`,
    );
    return chainTo(path, (next) => originOf(completed, next));
  });
}

function originOf(completed: StatementSync, path: string): Origin {
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
  const saved =
    "SELECT count(*) AS saved FROM futures WHERE request_type = 'SAVE_WEIGHTS' AND status = 'COMPLETED'";
  return readRecords(database, (requests) => Number(requests.prepare(saved).get()?.saved));
}

/** Whether the server has a request for actions that it has not completed. */
export function isSampling(database: string): boolean {
  const asked = "SELECT count(*) AS asked FROM futures WHERE request_type = 'SAMPLE' AND status = 'PENDING'";
  return readRecords(database, (requests) => Number(requests.prepare(asked).get()?.asked) > 0);
}
