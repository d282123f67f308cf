import { isObject, type JsonObject, type ToldFunction } from "everturn/plugin";
import { request, rpc } from "./server.ts";

/** The function that starts an episode. The loop calls it. */
export const resetName = "reset";

/** The function for a whole action, in an environment without tools. */
export const stepName = "step";

const noParameters: JsonObject = { type: "object", additionalProperties: false, properties: {} };

/**
 * Lists the environment's functions: one for each of its tools or, if its actions are not calls of tools, one that takes an
 * action.
 */
export async function functionsOf(url: string): Promise<Record<string, ToldFunction>> {
  const reset: ToldFunction = { description: "Starts an episode.", parameters: noParameters, forLoops: true };
  const answer = await request(url, "/schema");
  const action = isObject(answer) ? answer.action : undefined;
  if (!isObject(action)) throw new Error(`the server ${url} describes no action (/schema)`);
  const { title: _, description, properties, ...schema } = action;
  const { metadata: __, ...own } = isObject(properties) ? properties : {};
  if (!("tool_name" in own)) {
    const said = typeof description === "string" ? description : "Takes an action in the environment.";
    return {
      [resetName]: reset,
      [stepName]: { description: said, parameters: { ...schema, type: "object", properties: own } },
    };
  }
  const { tools } = (await rpc(url, "tools/list", {})) ?? {};
  const told = (Array.isArray(tools) ? tools : []).filter(isObject).map((tool): [string, ToldFunction] => {
    const { inputSchema, input_schema: older = inputSchema } = tool;
    const { $schema: ___, ...parameters } = isObject(older) ? older : {};
    const said = typeof tool.description === "string" ? tool.description : "";
    return [
      String(tool.name),
      { description: said || String(tool.name), parameters: { ...parameters, type: "object" } },
    ];
  });
  if (told.length === 0)
    throw new Error(`the server ${url} lists no tools, but its actions are calls of tools`);
  return { [resetName]: reset, ...Object.fromEntries(told) };
}

/** A call as an action. */
export function actionOf(name: string, given: JsonObject): JsonObject {
  return name === stepName ? given : { type: "call_tool", tool_name: name, arguments: given };
}
