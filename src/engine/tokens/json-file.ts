import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { persistently } from "../../base/files/persistently.ts";
import { isObject } from "../../contracts/json.ts";

/** Reads the object in a JSON file of a tokenizer's folder. Throws TOKENIZER_INVALID. */
export async function readJsonFile(folder: string, name: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await persistently(() => readFile(join(folder, name), "utf8"));
  } catch (cause) {
    throw invalidTokenizer(folder, `${name} can't be read`, cause);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalidTokenizer(folder, `${name} is not JSON`, cause);
  }
  if (!isObject(json)) throw invalidTokenizer(folder, `${name} is not a JSON object`);
  return json;
}

/** Returns the error TOKENIZER_INVALID. */
export function invalidTokenizer(folder: string, reason: string, cause?: unknown): EverturnError {
  return new EverturnError("TOKENIZER_INVALID", { folder, reason }, { cause });
}
