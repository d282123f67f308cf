import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import { EndpointProblem } from "../../../chat/openai/endpoint-problem.ts";
import { toolsIn, withProperties } from "../../../chat/openai/read-tools.ts";
import { isObject } from "../../../contracts/json.ts";
import type { ToolDefinition } from "../../../contracts/message.ts";

/** Returns the tools of a row; undefined if it has none. `at` is the row's place. */
export type RowTools = (row: Readonly<Record<string, unknown>>, at: string) => ToolDefinition[] | undefined;

/** For demonstrations of a loop whose tools the pipeline lists: their own are ignored. */
export const noRowTools: RowTools = () => undefined;

/**
 * Returns a reader of the column `tools`: a list of tools as an agent sends them in either of OpenAI's protocols, or
 * its JSON text. Rows with the same tools share one list. It throws DEMONSTRATED_TOOLS_INVALID.
 */
export function rowToolsReader(): RowTools {
  const known = new Map<string, ToolDefinition[]>();
  return ({ tools }, at) => {
    if (tools === undefined || tools === null) return undefined;
    const text = typeof tools === "string" ? tools : JSON.stringify(tools);
    const list = known.get(text) ?? toolsOf(text, at);
    known.set(text, list);
    return list;
  };
}

function toolsOf(text: string, at: string): ToolDefinition[] {
  try {
    const value: unknown = JSON.parse(text);
    const [first] = Array.isArray(value) ? value : [];
    const nesting = isObject(first) && !Object.hasOwn(first, "function") ? "in the tool" : "in function";
    return toolsIn({ at: "tools", value }, nesting).map(withProperties);
  } catch (error) {
    if (!(error instanceof EndpointProblem || error instanceof SyntaxError)) throw error;
    const reason =
      error instanceof EndpointProblem ? error.message : `tools is not JSON: ${messageOf(error)}.`;
    throw new EverturnError("DEMONSTRATED_TOOLS_INVALID", { at, reason });
  }
}
