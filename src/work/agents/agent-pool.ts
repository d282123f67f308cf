import { availableParallelism } from "node:os";
import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { createSlots } from "../tools/slots.ts";
import { type KeptAgent, type KeptAgentOptions, type Patience, startKeptAgent } from "./kept-agent.ts";

/** The threads or processes that keep an agent's module loaded. They start on demand. */
export interface AgentPool {
  /** Runs a trajectory, like KeptAgent's `run`. */
  run: KeptAgent["run"];
  /** Ends all threads and processes. */
  close(): Promise<void>;
}

interface Options extends Omit<KeptAgentOptions, "patience"> {
  patience?: Patience | undefined;
}

/** Trajectories in each thread before another thread starts, up to one thread per core. */
const perThread = 16;

/** Milliseconds after which an idle thread or process ends. */
const idle = 60_000;

/** Creates a pool that has started nothing yet. */
export function agentPool({ patience: given, ...options }: Options): AgentPool {
  const patience = given ?? {
    silence: 30_000,
    leftover: 30_000,
    loading: Math.max(60_000, options.settings.timeout),
  };
  const isThread = options.settings.mode === "thread";
  const mostThreads = availableParallelism();
  const kept = new Map<KeptAgent, NodeJS.Timeout | undefined>();
  /** Trajectories of a thread that ended by an unknown one. Each gets a thread of its own, which shows the guilty one. */
  const suspects = new Set<string>();
  const alone = createSlots(mostThreads);

  const start = () => startKeptAgent({ ...options, patience });

  function chosen(): KeptAgent {
    for (const agent of kept.keys()) if (!agent.isUsable()) kept.delete(agent);
    const [least] = [...kept.keys()].sort((one, other) => one.sessions() - other.sessions());
    const room = isThread && kept.size === mostThreads ? Number.POSITIVE_INFINITY : isThread ? perThread : 1;
    const agent = least !== undefined && least.sessions() < room ? least : start();
    clearTimeout(kept.get(agent));
    kept.set(agent, undefined);
    return agent;
  }

  function release(agent: KeptAgent): void {
    if (agent.sessions() > 0 || !kept.has(agent)) return;
    const end = () => {
      kept.delete(agent);
      void agent.end();
    };
    clearTimeout(kept.get(agent));
    kept.set(agent, setTimeout(end, idle).unref());
  }

  async function runAlone(...[session, timeUp, signal]: Parameters<KeptAgent["run"]>): Promise<string> {
    const giveBack = await alone.take(signal);
    const agent = start();
    try {
      return await agent.run(session, timeUp, signal);
    } finally {
      await agent.end();
      giveBack();
    }
  }

  return {
    run: async (session, timeUp, signal) => {
      const { trajectory } = session;
      if (suspects.delete(trajectory)) return runAlone(session, timeUp, signal);
      const agent = chosen();
      try {
        return await agent.run(session, timeUp, signal);
      } catch (error) {
        if (isEverturnError(error) && error.code === "AGENT_INTERRUPTED") suspects.add(trajectory);
        throw error;
      } finally {
        release(agent);
      }
    },
    close: async () => {
      for (const timer of kept.values()) clearTimeout(timer);
      await Promise.all([...kept.keys()].map((agent) => agent.end()));
    },
  };
}
