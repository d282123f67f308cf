import type { JsonObject } from "../../src/contracts/json.ts";

/** A call as the scripted policy says it. */
export function call(name: string, given: JsonObject): string {
  return `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;
}

/** Two conversations that call a tool with amounts: their total reaches 3, and passes it. */
export function counting(name: string): string[][] {
  return [2, 5].map((amount) => [call(name, { amount: 1 }), call(name, { amount }), "I stop."]);
}
