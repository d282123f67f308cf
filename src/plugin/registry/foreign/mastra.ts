import { functionOf, told, toldError } from "./told.ts";
import type { TranslatedTool } from "./translated-tool.ts";

type Parts = Omit<TranslatedTool, "capabilities">;

/**
 * Translates a tool of Mastra's `createTool`. Its own validation of arguments answers with `{ error, message
 * }`.
 */
export function mastraTool(value: object): Parts | undefined {
  const { id, description, inputSchema }: MastraTool = value;
  const execute = functionOf(value, "execute");
  if (typeof id !== "string" || inputSchema === undefined || execute === undefined) return undefined;
  return {
    name: id,
    description,
    parameters: inputSchema,
    execute: async (given, { signal }) => {
      try {
        const output = await execute(given, { abortSignal: signal });
        const problem = problemOf(output);
        return problem === undefined ? told(output) : { text: `error: ${problem}`, error: true };
      } catch (thrown) {
        return toldError(thrown);
      }
    },
  };
}

interface MastraTool {
  id?: unknown;
  description?: unknown;
  inputSchema?: unknown;
}

function problemOf(output: unknown): string | undefined {
  if (typeof output !== "object" || output === null || !("validationErrors" in output)) return undefined;
  const { message }: { message?: unknown } = Object(output);
  return typeof message === "string" ? message : undefined;
}
