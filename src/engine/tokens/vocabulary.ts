import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The token texts in a tokenizer.json by id; "" for ids without a token. */
export interface Vocabulary {
  tokens: string[];
  /** How bytes are written: as in GPT-2, as <0x0A>, or unencoded. */
  encoding: "byte_level" | "byte_fallback" | "raw";
  /** Ids of control tokens, such as eos_token. */
  special: ReadonlySet<number>;
}

/** Reads the vocabulary of the tokenizer in a folder that `loadTokenizer` accepts. */
export async function readVocabulary(folder: string): Promise<Vocabulary> {
  const json: TokenizerJson = JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8"));
  const { model, added_tokens: added = [], decoder } = json;
  const tokens: string[] = [];
  const put = (token: string, id: number) => {
    while (tokens.length < id) tokens.push("");
    tokens[id] = token;
  };
  const entries: [string, number][] = Array.isArray(model.vocab)
    ? model.vocab.map(([token], id) => [token, id])
    : Object.entries(model.vocab);
  for (const [token, id] of entries.sort((a, b) => a[1] - b[1])) put(token, id);
  for (const { content, id } of added) put(content, id);
  const decoders = [decoder, ...(decoder?.decoders ?? [])].map((part) => part?.type);
  const encoding = decoders.includes("ByteLevel")
    ? "byte_level"
    : decoders.includes("ByteFallback")
      ? "byte_fallback"
      : "raw";
  return { tokens, encoding, special: new Set(added.filter((token) => token.special).map(({ id }) => id)) };
}

/** The parts of tokenizer.json that define its tokens. */
interface TokenizerJson {
  model: { vocab: Record<string, number> | [string, number][] };
  added_tokens?: { id: number; content: string; special: boolean }[];
  decoder?: { type: string; decoders?: { type: string }[] } | null;
}
