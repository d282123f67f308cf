import { aiSdkTool } from "./ai-sdk.ts";
import { langchainTool } from "./langchain.ts";
import { mastraTool } from "./mastra.ts";
import { openAiTool } from "./openai-agents.ts";
import type { TranslatedTool } from "./translated-tool.ts";

/**
 * A tool as the AI SDK, LangChain.js, Mastra or OpenAI's agents SDK has it, known by its shape, so that Everturn depends on
 * none of them; undefined if the value is none. `name`: for those that have none of their own.
 */
export function foreignTool(value: unknown, name: string): TranslatedTool | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const parts = openAiTool(value) ?? langchainTool(value) ?? mastraTool(value) ?? aiSdkTool(value);
  // It says nothing of what it does beyond computing: it is taken to go out.
  return parts && { name, ...parts, capabilities: { network: true } };
}
