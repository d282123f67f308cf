import { issuesText, speaksStandard } from "../standard-schema.ts";
import { functionOf, told, toldError, toldParts } from "./told.ts";
import type { TranslatedTool } from "./translated-tool.ts";

type Parts = Omit<TranslatedTool, "capabilities" | "name">;

/**
 * Translates a tool of the AI SDK, made by `tool()`. It has no name of its own. Of several results in a row,
 * the last one counts.
 */
export function aiSdkTool(value: object): Parts | undefined {
  const { description, inputSchema }: AiSdkTool = value;
  const execute = functionOf(value, "execute");
  if (typeof inputSchema !== "object" || inputSchema === null || execute === undefined) return undefined;
  const toModelOutput = functionOf(value, "toModelOutput");
  return {
    description,
    parameters: "jsonSchema" in inputSchema ? inputSchema.jsonSchema : inputSchema,
    execute: async (given, { key, signal }) => {
      try {
        const options = { toolCallId: key, messages: [], abortSignal: signal };
        const parsed = await parsedInput(inputSchema, given);
        if ("problem" in parsed) return { text: `error: ${parsed.problem}`, error: true };
        const { input } = parsed;
        const output = await lastOf(execute(input, options));
        if (toModelOutput === undefined) return told(output);
        return toldToModel(await toModelOutput({ toolCallId: key, input, output }));
      } catch (thrown) {
        return toldError(thrown);
      }
    },
  };
}

interface AiSdkTool {
  description?: unknown;
  inputSchema?: unknown;
}

/** The arguments as the tool's schema parses them, for example with its defaults. */
async function parsedInput(
  schema: object,
  given: unknown,
): Promise<{ input: unknown } | { problem: string }> {
  if (!speaksStandard(schema)) return { input: given };
  const parsed = await schema["~standard"].validate(given);
  return parsed.issues === undefined ? { input: parsed.value } : { problem: issuesText(parsed.issues) };
}

async function lastOf(result: unknown): Promise<unknown> {
  const output = await result;
  if (!isSeries(output)) return output;
  let last: unknown;
  for await (const one of output) last = one;
  return last;
}

function isSeries(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** The AI SDK's ToolResultOutput. */
function toldToModel(output: unknown) {
  const { type, value, reason }: { type?: unknown; value?: unknown; reason?: unknown } = Object(output);
  const error = type === "error-text" || type === "error-json" || type === "execution-denied";
  if (type === "content") return toldParts(value) ?? told(value);
  const answer = told(value ?? reason);
  return error ? { text: `error: ${answer.text}`, error } : answer;
}
