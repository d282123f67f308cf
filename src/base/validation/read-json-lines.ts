import type { JsonObject } from "../../contracts/json.ts";
import { createAjv } from "./ajv.ts";
import { parseJsonLines } from "./json-lines.ts";
import { readText } from "./read-text.ts";

/**
 * The objects in a JSON Lines file. Each matches `schema`, a JSON Schema of type object. Blank lines count for nothing.
 * Throws WRONG_CONFIGURATION with the file, line and column of each bad row, PATH_UNUSABLE and TEXT_ENCODING_WRONG.
 */
export function readJsonLines(path: string, schema: JsonObject = { type: "object" }): JsonObject[] {
  return parseJsonLines(readText(path), path, createAjv().compile<JsonObject>(schema));
}
