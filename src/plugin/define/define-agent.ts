import type { Task } from "../../contracts/generated/task.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { recorded } from "./recorded.ts";

/** What an agent receives: its task, and its access to the policy. */
export interface AgentContext {
  task: Task;
  /** The agent's own settings: `settings` of loop-agent, or the configuration of the environment that the agent is part of. */
  settings: JsonObject;
  /** A model name for its requests. Any other name works too. */
  model: string;
  /** The base URL of an endpoint with OpenAI's chat completions and responses APIs, including `/v1`. */
  baseURL: string;
  /** The key of its session, which clients send as `Authorization: Bearer`. */
  apiKey: string;
  /** `fetch` with that key. */
  fetch: typeof fetch;
  /** Records the results of a function or tool of the agent, like `recorded` of `everturn/agent`. */
  recorded: typeof recorded;
  /** Aborted when the trajectory or its worker ends. */
  signal: AbortSignal;
}

/** An agent. If it returns a text, that is its answer; otherwise its newest action is. */
export type Agent = (context: AgentContext) => Promise<unknown>;

/**
 * Defines an agent in one file: `loop: { plugin: loop-agent, config: { module: ./agent.ts } }`. Each trajectory runs it in
 * its own process, unless `mode` keeps it loaded. If it throws, it restarts, and recorded answers are used as long as its requests are the same.
 */
export function defineAgent(agent: Agent): Agent {
  return agent;
}
