import type { JsonObject, JsonValue, Task, ToldFunction } from "everturn/plugin";
import { isObject, readJsonLines } from "everturn/plugin";

const rowSchema = {
  type: "object",
  required: ["responses_create_params"],
  properties: { responses_create_params: { type: "object" } },
};

/** The rows of a file. Throws with the place of each that is not an object with `responses_create_params`. */
export function readRows(path: string, limit: number | undefined): JsonObject[] {
  return readJsonLines(path, rowSchema).slice(0, limit);
}

/** A row as a task. The whole row stays in it, for the server. */
export function taskOf(row: JsonObject, index: number): Task {
  const { responses_create_params: params, agent_ref: agent } = row;
  const { instructions, input } = isObject(params) ? params : {};
  const system = typeof instructions === "string" ? [{ role: "system" as const, content: instructions }] : [];
  const items: JsonValue[] =
    typeof input === "string" ? [{ role: "user", content: input }] : Array.isArray(input) ? input : [];
  const messages = items.filter(isObject).flatMap(messageOf);
  const name = isObject(agent) && typeof agent.name === "string" ? agent.name : "nemo-gym";
  return {
    data_source: name,
    prompt: [...system, ...messages],
    reward_model: { ground_truth: "" },
    extra_info: { index, nemo_gym: row },
  };
}

/** The row that a task was made from. */
export function rowOf({ extra_info: { nemo_gym: row } = {} }: Task): JsonObject {
  return isObject(row) ? row : {};
}

/** The functions that any of the rows offers. Throws if two rows describe one differently. */
export function functionsOf(rows: readonly JsonObject[]): Record<string, ToldFunction> {
  const functions = new Map<string, ToldFunction>();
  for (const { responses_create_params: params } of rows) {
    const tools = isObject(params) && Array.isArray(params.tools) ? params.tools : [];
    for (const tool of tools.filter(isObject)) {
      const { name, description, parameters } = tool;
      if (typeof name !== "string") continue;
      const own = isObject(parameters) ? parameters : {};
      const told = {
        description: typeof description === "string" && description !== "" ? description : name,
        parameters: { type: "object", properties: {}, ...own },
      };
      const known = functions.get(name);
      if (known !== undefined && JSON.stringify(known) !== JSON.stringify(told))
        throw new Error(`two rows describe the tool “${name}” differently`);
      functions.set(name, told);
    }
  }
  return Object.fromEntries(functions);
}

function messageOf({ role, content }: JsonObject): Task["prompt"] {
  const text = typeof content === "string" ? content : partsText(content);
  if (role === "system" || role === "developer") return [{ role: "system", content: text }];
  if (role === "user" || role === "assistant") return [{ role, content: text }];
  return [];
}

function partsText(content: JsonValue | undefined): string {
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
}
