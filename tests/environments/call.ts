import type { JsonObject } from "../../src/contracts/json.ts";

/** A call as the scripted policy says it. */
export function call(name: string, given: JsonObject): string {
  return `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;
}
