import { unsupportedGguf } from "./config-metadata.ts";
import type { GgufHeader } from "./header.ts";
import type { GgufValue } from "./value-types.ts";

/** llama.cpp's numbers for the types of tokens. */
export const tokenTypes = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** The tokens of a GGUF file and their types, by id. */
export interface Vocabulary {
  tokens: string[];
  types: number[];
}

/** Reads the vocabulary in a file's metadata. Throws GGUF_UNSUPPORTED. */
export function readVocabulary(path: string, metadata: GgufHeader["metadata"]): Vocabulary {
  const tokens = stringsAt(path, metadata, "tokenizer.ggml.tokens");
  const types = metadata.get("tokenizer.ggml.token_type");
  if (types === undefined) return { tokens, types: tokens.map(() => tokenTypes.normal) };
  return { tokens, types: numbersAt(path, metadata, "tokenizer.ggml.token_type", tokens.length) };
}

/** Returns the list of texts under a key. Throws GGUF_UNSUPPORTED if it is missing. */
export function stringsAt(path: string, metadata: GgufHeader["metadata"], key: string): string[] {
  return listAt(path, metadata, key, (value) => typeof value === "string");
}

/** Returns the list of `length` numbers under a key. Throws GGUF_UNSUPPORTED if it is missing. */
export function numbersAt(
  path: string,
  metadata: GgufHeader["metadata"],
  key: string,
  length: number,
): number[] {
  const numbers = listAt(path, metadata, key, (value) => typeof value === "number");
  if (numbers.length === length) return numbers;
  throw unsupportedGguf(path, `${key} has ${numbers.length} entries for ${length} tokens`);
}

function listAt<Item extends GgufValue>(
  path: string,
  metadata: GgufHeader["metadata"],
  key: string,
  isItem: (value: GgufValue) => value is Item,
): Item[] {
  const list = metadata.get(key);
  if (Array.isArray(list) && list.every(isItem)) return list;
  throw unsupportedGguf(path, list === undefined ? `${key} is missing` : `${key} is not a list of its kind`);
}
