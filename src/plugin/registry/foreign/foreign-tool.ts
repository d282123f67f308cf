import { aiSdkTool } from "./ai-sdk.ts";
import { langchainTool } from "./langchain.ts";
import { mastraTool } from "./mastra.ts";
import { openAiTool } from "./openai-agents.ts";
import type { TranslatedTool } from "./translated-tool.ts";

/**
 * Translates a tool of the AI SDK, LangChain.js, Mastra or OpenAI's agents SDK. It recognizes the tool by its
 * shape, so that Everturn depends on none of these libraries. Undefined if the value is not such a tool.
 * `name` is for tools without a name of their own.
 */
export function foreignTool(value: unknown, name: string): TranslatedTool | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const parts = openAiTool(value) ?? langchainTool(value) ?? mastraTool(value) ?? aiSdkTool(value);
  // Such a tool does not declare what it accesses, so it is assumed to use the network.
  return parts && { name, ...parts, capabilities: { network: true } };
}
