import { workflowInfo } from "@temporalio/workflow";
import type { Turn } from "../src/contracts/generated/trajectory.ts";

/**
 * Limits on one history of a trajectory. The number of turns keeps the history readable. The number of
 * characters ensures that a workflow task that took all of these turns on the spot still fits into one
 * request to the server (4 MB).
 */
const ownTurns = { turns: 250, characters: 300_000 };

/**
 * The limits where an agent's requests are the turns. Each request is a workflow task of its own, and each
 * new history restarts the agent. A history may have 2,000 updates.
 */
const agentTurns = { turns: 1500, characters: 10_000_000 };

/** Reports when a trajectory's history is so long that it should continue as new. */
export function historyBound(isAgents: () => boolean): { add(turn: Turn): void; isReached(): boolean } {
  let turns = 0;
  let characters = 0;
  return {
    add: (turn) => {
      turns += 1;
      characters += JSON.stringify(turn).length;
    },
    isReached: () => {
      const bounds = isAgents() ? agentTurns : ownTurns;
      return (
        turns >= bounds.turns || characters >= bounds.characters || workflowInfo().continueAsNewSuggested
      );
    },
  };
}
