import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import { loadTokenizer } from "../tokens/tokenizer.ts";
import { oneOrList } from "./model-config-file.ts";

/**
 * Writes all tokens that end an action of the policy in a folder into its generation_config.json, where transformers
 * looks for them: those that its files and its chat template name, and `added` ones, by their texts. Throws
 * STOP_TOKEN_UNKNOWN for a text that is no token, and what `loadTokenizer` throws.
 */
export async function writeStopTokens(folder: string, added: readonly string[]): Promise<void> {
  const { stopTokens, idOf } = await loadTokenizer(folder);
  const ids = added.map((token) => {
    const id = idOf(token);
    if (id === undefined) throw new EverturnError("STOP_TOKEN_UNKNOWN", { token });
    return id;
  });
  const path = join(folder, "generation_config.json");
  const config: object = JSON.parse(await readFile(path, "utf8"));
  const named = { ...config, eos_token_id: oneOrList([...new Set([...stopTokens, ...ids])]) };
  await writeFile(path, `${JSON.stringify(named, null, 2)}\n`);
}
