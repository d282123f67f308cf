import type { JsonObject } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import { invalid } from "./endpoint-problem.ts";
import { type Field, fieldOf, isAbsent, kindOf, listIn, nameIn, objectIn, textIn, wordIn } from "./fields.ts";
import type { ResponseFormat, ToolChoice } from "./model-request.ts";

/** Where a function's fields are: in `function` (chat completions), or in the tool itself (responses). */
type Nesting = "in function" | "in the tool";

/** The functions that a request offers. */
export function toolsIn(field: Field, nesting: Nesting): ToolDefinition[] {
  return isAbsent(field) ? [] : listIn(field).map((one) => toolIn(one, nesting));
}

function toolIn(field: Field, nesting: Nesting): ToolDefinition {
  const tool = objectIn(field);
  const type = fieldOf(tool, "type", field.at);
  if (type.value !== "function")
    throw invalid(
      field.at,
      `is of type ${kindOf(type.value)}, and there are only tools of type "function": the agent runs what this model calls`,
      "unsupported_tool",
    );
  const own = nesting === "in the tool" ? field : fieldOf(tool, "function", field.at);
  const told = objectIn(own);
  const description = fieldOf(told, "description", own.at);
  const parameters = fieldOf(told, "parameters", own.at);
  return {
    name: nameIn(fieldOf(told, "name", own.at)),
    description: isAbsent(description) ? "" : textIn(description),
    parameters: isAbsent(parameters) ? { type: "object", properties: {} } : objectIn(parameters),
  };
}

/**
 * A tool as prompts show it. Templates iterate over the properties of its parameters, so a tool without any gets an
 * empty object.
 */
export function withProperties({ parameters, ...tool }: ToolDefinition): ToolDefinition {
  return { ...tool, parameters: { type: "object", properties: {}, ...parameters } };
}

/** Which of them the client wants called. */
export function toolChoiceIn(field: Field, nesting: Nesting): ToolChoice {
  if (isAbsent(field)) return "auto";
  if (typeof field.value === "string") return wordIn(field, ["auto", "none", "required"] as const);
  const choice = objectIn(field);
  const type = fieldOf(choice, "type", field.at);
  if (type.value === "allowed_tools")
    return wordIn(allowedMode(choice, field.at), ["auto", "required"] as const);
  wordIn(type, ["function"]);
  const own = nesting === "in the tool" ? field : fieldOf(choice, "function", field.at);
  return { name: nameIn(fieldOf(objectIn(own), "name", own.at)) };
}

function allowedMode(choice: JsonObject, at: string): Field {
  const nested = fieldOf(choice, "allowed_tools", at);
  return isAbsent(nested) ? fieldOf(choice, "mode", at) : fieldOf(objectIn(nested), "mode", nested.at);
}

/**
 * The form of the answer's text that the client wants. `nested` is whether the fields of `json_schema` are in an
 * object with that name.
 */
export function responseFormatIn(field: Field, nested: boolean): ResponseFormat | undefined {
  if (isAbsent(field)) return undefined;
  const format = objectIn(field);
  const type = wordIn(fieldOf(format, "type", field.at), ["text", "json_object", "json_schema"]);
  if (type !== "json_schema") return { type };
  const own = nested ? fieldOf(format, "json_schema", field.at) : field;
  const told = objectIn(own);
  const schema = fieldOf(told, "schema", own.at);
  return {
    type,
    name: nameIn(fieldOf(told, "name", own.at)),
    schema: isAbsent(schema) ? {} : objectIn(schema),
  };
}
