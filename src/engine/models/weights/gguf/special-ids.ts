import { oneOrList, type SpecialTokenIds } from "../../config/model-config-file.ts";
import { unsupportedGguf } from "./config-metadata.ts";
import type { GgufHeader } from "./header.ts";
import { readVocabulary, tokenTypes } from "./vocabulary.ts";

/** Control tokens that end a model's turn, by text. A file names at most three, and llama.cpp knows these. */
const ends: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|eom_id|>",
  "<|end_of_text|>", // Llama 3
  "<|im_end|>",
  "<|endoftext|>", // Qwen, SmolLM2
  "<end_of_turn>",
  "<eos>", // Gemma
  "</s>",
  "<|end|>",
  "<｜end▁of▁sentence｜>", // Llama 2 and Mistral, Phi-3, DeepSeek
]);

/** Returns the ids of a file's special tokens for config.json. Throws GGUF_UNSUPPORTED if none ends a text. */
export function specialIds(path: string, { metadata }: GgufHeader): SpecialTokenIds {
  const id = (name: string) => {
    const value = metadata.get(`tokenizer.ggml.${name}_token_id`);
    return typeof value === "number" ? value : null;
  };
  const eos = id("eos");
  if (eos === null) throw unsupportedGguf(path, "tokenizer.ggml.eos_token_id is missing");
  const { tokens, types } = readVocabulary(path, metadata);
  const known = tokens.flatMap((token, at) =>
    types[at] === tokenTypes.control && ends.has(token) ? [at] : [],
  );
  const all = new Set([eos, id("eot") ?? eos, id("eom") ?? eos, ...known]);
  return {
    bos_token_id: id("bos"),
    eos_token_id: oneOrList([...all]),
    pad_token_id: id("padding"),
  };
}
