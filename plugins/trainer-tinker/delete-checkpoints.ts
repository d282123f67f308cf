import { TinkerError } from "@everturn/tinker";
import { clientOf } from "./connection.ts";
import { profiles } from "./profiles.ts";
import type { ServerTrainerConfig } from "./settings.ts";

/** A run does not wait for this, but the end of its worker does. */
const patience = { retry: { attempts: 2 }, requestTimeoutMs: 10_000 };

/**
 * Returns a function that deletes checkpoints on a server, and throws its TinkerError. Undefined if the server keeps the
 * checkpoints of released models.
 */
export function checkpointDeleter(config: ServerTrainerConfig) {
  if (profiles[config.server].deletes !== true) return undefined;
  return async (checkpoints: readonly string[]): Promise<void> => {
    const client = clientOf(config, patience);
    for (const path of checkpoints) {
      try {
        await client.checkpoints.delete(path);
      } catch (error) {
        const isGone = error instanceof TinkerError && error.status === 404; // with its model
        if (!isGone) throw error;
      }
    }
  };
}
