import { functionOf, told, toldError, toldParts } from "./told.ts";
import type { TranslatedTool } from "./translated-tool.ts";

type Parts = Omit<TranslatedTool, "capabilities">;

/**
 * Translates a function tool of OpenAI's agents SDK. Its own `errorFunction` reports errors of `execute` to
 * the model.
 */
export function openAiTool(value: object): Parts | undefined {
  const { type, name, description, parameters }: Record<string, unknown> = { ...value };
  const invoke = functionOf(value, "invoke");
  if (type !== "function" || typeof name !== "string" || invoke === undefined) return undefined;
  return {
    name,
    description,
    parameters,
    execute: async (given, { key, signal }) => {
      try {
        const details = { toolCall: { callId: key }, signal };
        const output = await invoke(undefined, JSON.stringify(given), details);
        return toldParts(Array.isArray(output) ? output : [output]) ?? told(output);
      } catch (thrown) {
        return toldError(thrown);
      }
    },
  };
}
