import { workflowInfo } from "@temporalio/workflow";
import type { Turn } from "../src/contracts/generated/trajectory.ts";

/**
 * How much one history of a trajectory may hold: turns, so that it can be read, and characters, so that even a
 * workflow task that took all of these turns on the spot fits into one request to the server (4 MB).
 */
const ownTurns = { turns: 250, characters: 300_000 };

/**
 * The same where an agent's requests are the turns: each is a task of its own, and the agent is started anew in the next
 * history. A history may have 2,000 updates.
 */
const agentTurns = { turns: 1500, characters: 10_000_000 };

/** Tells when a trajectory's history has grown so long that it should continue as new. */
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
