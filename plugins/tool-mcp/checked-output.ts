import type { CallToolResult, CompatibilityCallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";

/** A server reports success, but its answer violates the tool's output schema. */
export class OutputBroken extends Error {}

const validator = new AjvJsonSchemaValidator();

/**
 * Checks a successful answer against the tool's output schema and returns it. The schema does not apply to
 * failed calls. Throws OutputBroken.
 */
export function checkedOutput<Result extends CallToolResult | CompatibilityCallToolResult>(
  result: Result,
  { tool, server }: { tool: Tool; server: string },
): Result {
  if (tool.outputSchema === undefined || result.isError === true) return result;
  const wrong = problemOf(result.structuredContent, tool.outputSchema);
  if (wrong === undefined) return result;
  throw new OutputBroken(`the server ${server} broke the output schema of its tool ${tool.name}: ${wrong}`);
}

function problemOf(output: unknown, schema: NonNullable<Tool["outputSchema"]>): string | undefined {
  if (output === undefined || output === null) return "it answered no structured content";
  let validate: ReturnType<typeof validator.getValidator>;
  try {
    validate = validator.getValidator(JSON.parse(JSON.stringify(schema)));
  } catch {
    return undefined; // an unreadable schema allows anything
  }
  return validate(output).errorMessage;
}
