import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import { givenTwice, type Read, readJson } from "./json-text.ts";
import { pythonLiteral } from "./python-text.ts";
import { allows, isOpen, propertySchema, type Schema } from "./schema-kinds.ts";

const notJson = "no JSON";
/** Python's words for JSON values. */
const words: Record<string, JsonValue | undefined> = { True: true, False: false, None: null };
/** These words in lower case. If the schema does not allow text, case is ignored. */
const smallWords: Record<string, JsonValue> = { true: true, false: false, null: null, none: null };

/** An argument as text. `kind` is the type that the format itself declares. */
export interface WrittenArgument {
  key: string;
  text: string;
  kind?: "text" | "json" | undefined;
}

/** Types arguments by their function's schema, or explains what is wrong with one. */
export function typedArguments(
  tools: readonly ToolDefinition[],
  name: string,
  written: readonly WrittenArgument[],
): Read<JsonObject> {
  const parameters = tools.find((tool) => tool.name === name)?.parameters ?? {};
  const given = new Map<string, JsonValue>();
  for (const { key, text, kind } of written) {
    if (given.has(key)) return { wrong: givenTwice(key) };
    const { value, wrong } =
      kind === "text" ? { value: text } : typedValue(text, propertySchema(parameters, key), kind === "json");
    if (wrong !== undefined) return { wrong };
    given.set(key, value);
  }
  return { value: Object.fromEntries(given) };
}

/**
 * The value of an argument's text, for formats that write text and numbers alike, according to its tool's schema. If
 * the schema allows text, the text becomes another value only if it is JSON that keeps everything written. If it
 * does not, Python's literals count too.
 */
function typedValue(text: string, schema: Schema | undefined, isJson: boolean): Read {
  const written = text.trim();
  const json = readJson(written, notJson);
  if (isJson && json.wrong !== notJson) return json;
  const open = schema === undefined || isOpen(schema);
  const isAllowed = (value: JsonValue) => open || allows(schema, { value });
  if (isAllowed(text)) {
    const word = open ? undefined : words[written];
    const found = word === undefined ? losslessValue(json, written) : word;
    return { value: found !== undefined && isAllowed(found) ? found : text };
  }
  for (const read of [json, pythonLiteral(withoutZeros(written)), wordRead(written.toLowerCase())]) {
    if (read === undefined || read.wrong === notJson) continue;
    if (read.wrong !== undefined) return read;
    if (typeof read.value !== "string" && isAllowed(read.value)) return read;
  }
  return { value: text };
}

function wordRead(word: string): Read | undefined {
  const value = Object.hasOwn(smallWords, word) ? smallWords[word] : undefined;
  return value === undefined ? undefined : { value };
}

/** An integer without leading zeros and plus sign. */
function withoutZeros(written: string): string {
  return written.replace(/^([+-]?)0+(?=\d+$)/, "$1");
}

/** The value of a JSON text, unless it is a string or has a number that JSON.stringify would write differently. */
function losslessValue(json: Read, written: string): JsonValue | undefined {
  if (json.wrong !== undefined || typeof json.value === "string") return undefined;
  const isContainer = typeof json.value === "object" && json.value !== null;
  return isContainer || JSON.stringify(json.value) === written ? json.value : undefined;
}
