import { isObject, type JsonObject } from "../contracts/json.ts";
import type { ToolCall, ToolDefinition } from "../contracts/message.ts";

/** How a function that takes one text may be called where a model writes that text alone. */
export interface TextFunction {
  /** Its name, or that of one of its languages. */
  spelled: string;
  function: string;
  /** The argument that is the text. */
  text: string;
  others: JsonObject;
}

/** How a language may be called where a model writes code. */
const spellings: Record<string, string> = { py: "python", js: "javascript", bash: "shell", sh: "shell" };

/** What the tools' functions that take one text may be called by: their names, and the languages that they choose from. */
export function textFunctions(tools: readonly ToolDefinition[]): TextFunction[] {
  return tools.flatMap(({ name, parameters }) => {
    const properties = isObject(parameters.properties) ? parameters.properties : {};
    const required = Array.isArray(parameters.required) ? parameters.required : [];
    const [text] = required;
    const schema = typeof text === "string" ? properties[text] : undefined;
    if (required.length !== 1 || typeof text !== "string" || !isObject(schema) || schema.type !== "string")
      return [];
    const { language } = properties;
    const languages = isObject(language) && Array.isArray(language.enum) ? language.enum.map(String) : [];
    const others = Object.keys(spellings).filter((one) => languages.includes(spellings[one] ?? ""));
    return [
      { spelled: name, function: name, text, others: {} },
      ...[...languages, ...others].map((one) => ({
        ...{ spelled: one, function: name, text },
        others: { language: spellings[one] ?? one },
      })),
    ];
  });
}

/** The call that a text is. */
export function textCall({ function: name, text, others }: TextFunction, written: string): ToolCall {
  return { name, arguments: { [text]: written, ...others } };
}

/** How a call may be written as a text alone; undefined where it says more than that. */
export function asText(
  call: ToolCall,
  functions: readonly TextFunction[],
): { spelled: string; text: string } | undefined {
  for (const { spelled, function: name, text, others } of functions) {
    const { [text]: written, ...rest } = call.arguments;
    if (name !== call.name || typeof written !== "string") continue;
    const isSame =
      Object.keys(rest).length === Object.keys(others).length &&
      Object.keys(others).every((key) => rest[key] === others[key]);
    if (isSame) return { spelled, text: written };
  }
  return undefined;
}
