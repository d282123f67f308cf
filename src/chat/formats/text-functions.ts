import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import type { ToolCall, ToolDefinition } from "../../contracts/message.ts";
import { allows, isOpen, kinds, propertySchema, resolved } from "./schema-kinds.ts";

/** A function that a model can call by writing a single text. */
export interface TextFunction {
  /** Its name, or the name of one of its languages. */
  spelled: string;
  function: string;
  /** The name of the argument that the text becomes. */
  text: string;
  others: JsonObject;
}

/** Other names of languages that models use for code. */
const spellings: Record<string, string> = { py: "python", js: "javascript", bash: "shell", sh: "shell" };

/** The names that call the tools' functions with a single text argument: their own, and those of their languages. */
export function textFunctions(tools: readonly ToolDefinition[]): TextFunction[] {
  return tools.flatMap(({ name, parameters }) => {
    const required = Array.isArray(parameters.required) ? parameters.required : [];
    const [text] = required;
    if (required.length !== 1 || typeof text !== "string" || !takesText(parameters, text)) return [];
    const languages = languagesOf(parameters);
    const others = Object.keys(spellings).filter((one) => languages.includes(spellings[one] ?? ""));
    return [
      { spelled: name, function: name, text, others: {} },
      ...[...languages, ...others].map((one) => ({
        spelled: one,
        function: name,
        text,
        others: { language: spellings[one] ?? one },
      })),
    ];
  });
}

/** Whether an argument is always a text. */
function takesText(parameters: JsonObject, name: string): boolean {
  const schema = propertySchema(parameters, name);
  if (schema === undefined || isOpen(schema)) return false;
  return kinds.every((kind) => allows(schema, { kind }) === (kind === "string"));
}

function languagesOf(parameters: JsonObject): string[] {
  const { schema, root } = propertySchema(parameters, "language") ?? { schema: true, root: parameters };
  const language: JsonValue | undefined = resolved(schema, root);
  return isObject(language) && Array.isArray(language.enum) ? language.enum.map(String) : [];
}

/** The call that a text represents. */
export function textCall({ function: name, text, others }: TextFunction, written: string): ToolCall {
  return { name, arguments: { [text]: written, ...others } };
}

/** Writes a call as a single text; undefined if it has more content than that. */
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
