import { DatabaseSync } from "node:sqlite";

/** A checkpoint on a server, and what the server executed to make it. */
export interface ChainLink {
  path: string;
  /** Optimizer steps since the checkpoint before it. */
  steps: number;
}

/**
 * Optimizer steps before a checkpoint, back to the one before it in its model, or to the one that the model loaded, if there is one.
 */
export interface Origin {
  steps: number;
  before: string | undefined;
}

/** The checkpoints that the weights at `path` descend from, oldest first, and itself. */
export function chainTo(path: string, originOf: (path: string) => Origin): ChainLink[] {
  const chain: ChainLink[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { steps, before } = originOf(next);
    chain.unshift({ path: next, steps });
    next = before;
  }
  return chain;
}

/** Reads a server's SQLite database. */
export function readRecords<Result>(file: string, read: (records: DatabaseSync) => Result): Result {
  const records = new DatabaseSync(file, { readOnly: true });
  try {
    return read(records);
  } finally {
    records.close();
  }
}
