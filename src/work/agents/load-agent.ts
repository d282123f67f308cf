import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Agent, AgentContext } from "../../plugin/define/define-agent.ts";
import { recorded } from "../../plugin/define/recorded.ts";

/** Imports the agent that a module exports under a name. */
export async function loadAgent(module: string, name: string): Promise<Agent> {
  const loaded: Record<string, unknown> = await import(pathToFileURL(resolve(module)).href);
  const agent = loaded[name];
  if (!isAgent(agent)) throw new Error(`${module} exports no agent as ${name}: export defineAgent(…)`);
  return agent;
}

function isAgent(value: unknown): value is Agent {
  return typeof value === "function";
}

/** Makes what an agent receives for one trajectory. */
export function agentContext({
  task,
  settings,
  baseURL,
  apiKey,
  signal,
}: Pick<AgentContext, "task" | "settings" | "baseURL" | "apiKey" | "signal">): AgentContext {
  return {
    task,
    settings,
    model: "policy",
    baseURL,
    apiKey,
    recorded,
    signal,
    fetch: (url, init = {}) => {
      const headers = new Headers(init.headers);
      if (!headers.has("authorization")) headers.set("authorization", `Bearer ${apiKey}`);
      return fetch(url, { ...init, headers });
    },
  };
}

/** The text of an agent's result: its answer, or "" if it gave none. */
export function answerOf(result: unknown): string {
  return typeof result === "string" ? result : "";
}
