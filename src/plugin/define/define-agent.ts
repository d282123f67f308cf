import type { Task } from "../../contracts/generated/task.ts";
import type { recorded } from "./recorded.ts";

/** What an agent is given: its task, and how it reaches the policy. */
export interface AgentContext {
  task: Task;
  /** The name that its requests may give as the model; any other serves as well. */
  model: string;
  /** Where OpenAI's protocols are spoken, `/v1` included: chat completions and responses. */
  baseURL: string;
  /** The key of its session, which clients send as `Authorization: Bearer`. */
  apiKey: string;
  /** `fetch` with that key. */
  fetch: typeof fetch;
  /** Keeps what a function or a tool of the agent gives, as `recorded` of `everturn/agent` does. */
  recorded: typeof recorded;
  /** Aborted when the trajectory has ended, or its worker ends. */
  signal: AbortSignal;
}

/** An agent: a text that it returns is its answer; else the newest action is. */
export type Agent = (context: AgentContext) => Promise<unknown>;

/**
 * An agent in one file: `loop: { plugin: loop-agent, config: { module: ./agent.ts } }`. Each trajectory runs it in a process of its own. If
 * it throws, it is started again, and answered from the record as far as its requests are the same.
 */
export function defineAgent(agent: Agent): Agent {
  return agent;
}
