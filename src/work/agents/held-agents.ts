import type {
  ContinueAgentInput,
  ContinueAgentResult,
  RunAgentInput,
  RunAgentResult,
} from "../../contracts/session.ts";
import { type Follower, type HeldAgent, holdAgent, type StartAgent } from "./held-agent.ts";

/**
 * The agents that this worker runs for workflows in the same worker. A workflow fetches their requests without a
 * round trip to the server. Nothing depends on this memory: a worker that does not hold an agent starts it again, and
 * its session answers from the record.
 */
export interface HeldAgents {
  /**
   * Returns what an agent does next, like HeldAgent's `next`. It starts the agent, also after a failure, unless it
   * holds it.
   */
  continue(input: ContinueAgentInput, signal: AbortSignal): Promise<ContinueAgentResult>;
  /** Runs an agent to its end. It starts the agent unless it holds it, and no longer holds it then. */
  run(input: RunAgentInput, follower: Follower): Promise<RunAgentResult>;
  /** Ends an agent if it holds it. */
  end(trajectory: string): Promise<void>;
  /** Ends all agents. */
  close(): Promise<void>;
}

/** Milliseconds after which an agent that has not asked counts as busy. Until then, its workflow task stays open. */
const busyAfter = 60_000;

/** Milliseconds after which an agent ends that nobody continues, because its workflow may be in another worker. */
const unclaimed = 120_000;

/** Creates a holder without agents. */
export function heldAgents(start: StartAgent, patience = { busyAfter, unclaimed }): HeldAgents {
  const agents = new Map<string, { agent: HeldAgent; idle: NodeJS.Timeout }>();

  function held(input: RunAgentInput): HeldAgent {
    const { id } = input.place;
    const known = agents.get(id);
    if (known !== undefined) {
      known.idle.refresh();
      return known.agent;
    }
    const agent = holdAgent(start, input);
    const idle = setTimeout(() => void taken(id)?.end(), patience.unclaimed).unref();
    agents.set(id, { agent, idle });
    return agent;
  }

  function taken(trajectory: string): HeldAgent | undefined {
    const known = agents.get(trajectory);
    clearTimeout(known?.idle);
    agents.delete(trajectory);
    return known?.agent;
  }

  return {
    continue: async (input, signal) => {
      const agent = held(input);
      try {
        return await agent.next(input, signal, patience.busyAfter);
      } finally {
        const { id } = input.place;
        if (agent.hasFailed() && agents.get(id)?.agent === agent) taken(id);
        agents.get(id)?.idle.refresh();
      }
    },
    run: (input, follower) => (taken(input.place.id) ?? holdAgent(start, input)).follow(follower),
    end: async (trajectory) => taken(trajectory)?.end(),
    close: async () => {
      await Promise.all([...agents.keys()].map((trajectory) => taken(trajectory)?.end()));
    },
  };
}
