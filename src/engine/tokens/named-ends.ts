import { join } from "node:path";
import { isThere } from "../../base/files/is-there.ts";
import { invalidTokenizer, readJsonFile } from "./json-file.ts";

/**
 * Reads the ids in eos_token_id of a model's config.json and generation_config.json, each a number or a list. Files may
 * be missing or name none. Throws TOKENIZER_INVALID for anything else.
 */
export async function readNamedEnds(folder: string): Promise<number[]> {
  const ids = new Set<number>();
  for (const name of ["config.json", "generation_config.json"]) {
    if (!isThere(join(folder, name))) continue;
    const { eos_token_id: named } = await readJsonFile(folder, name);
    if (named === undefined || named === null) continue;
    for (const id of Array.isArray(named) ? named : [named]) {
      if (!Number.isInteger(id)) {
        throw invalidTokenizer(
          folder,
          `${name}: eos_token_id holds ${JSON.stringify(id)}, which is not an id`,
        );
      }
      ids.add(id);
    }
  }
  return [...ids];
}
