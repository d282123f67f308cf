import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { persistently } from "../../../base/files/persistently.ts";
import { loadTokenizer, type Tokenizer } from "../../tokens/tokenizer.ts";
import { oneOrList } from "../config/model-config-file.ts";

/** Returns the ids of tokens by their texts. Throws STOP_TOKEN_UNKNOWN for a text that is not a token. */
export function stopTokenIds({ idOf }: Pick<Tokenizer, "idOf">, texts: readonly string[]): number[] {
  return texts.map((token) => {
    const id = idOf(token);
    if (id === undefined) throw new EverturnError("STOP_TOKEN_UNKNOWN", { token });
    return id;
  });
}

/**
 * Writes all tokens that end an action of a policy into its generation_config.json, where transformers reads them:
 * those of its files and its chat template, and `added` ones by their texts. Throws STOP_TOKEN_UNKNOWN for a text that
 * is not a token, and the errors of `loadTokenizer`.
 */
export async function writeStopTokens(folder: string, added: readonly string[]): Promise<void> {
  const tokenizer = await loadTokenizer(folder);
  const ids = stopTokenIds(tokenizer, added);
  const path = join(folder, "generation_config.json");
  const config: object = JSON.parse(await persistently(() => readFile(path, "utf8")));
  const named = { ...config, eos_token_id: oneOrList([...new Set([...tokenizer.stopTokens, ...ids])]) };
  await persistently(() => writeFile(path, `${JSON.stringify(named, null, 2)}\n`));
}
