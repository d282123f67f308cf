import { functionOf, told, toldError, toldParts } from "./told.ts";
import type { TranslatedTool } from "./translated-tool.ts";

type Parts = Omit<TranslatedTool, "capabilities">;

/** Translates a tool of LangChain.js: `tool()`, `DynamicStructuredTool` and similar classes. */
export function langchainTool(value: object): Parts | undefined {
  const { lc_namespace, name, description, schema }: LangChainTool = value;
  const invoke = functionOf(value, "invoke");
  if (!Array.isArray(lc_namespace) || typeof name !== "string" || invoke === undefined) return undefined;
  return {
    name,
    description,
    parameters: schema,
    execute: async (given, { key, signal }) => {
      try {
        const output = await invoke(given, { signal, metadata: { toolCallId: key } });
        return toldParts(output) ?? told(output);
      } catch (thrown) {
        return toldError(thrown);
      }
    },
  };
}

interface LangChainTool {
  lc_namespace?: unknown;
  name?: unknown;
  description?: unknown;
  schema?: unknown;
}
