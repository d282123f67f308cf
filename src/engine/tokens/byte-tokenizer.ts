import { openTokenizer, type Tokenizer } from "./tokenizer.ts";

/**
 * Returns a tokenizer with one token per byte and per text in `control`. The first of those is bos_token, and the last
 * eos_token.
 */
export function byteTokenizer(control: readonly string[], chatTemplate: string): Tokenizer {
  const vocab = Object.fromEntries(byteCharacters().map((character, id) => [character, id]));
  const added = control.map((content, at) => ({
    id: 256 + at,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  }));
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
  const json = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: bytes,
    post_processor: null,
    decoder: bytes,
    model: { type: "BPE", vocab, merges: [], ignore_merges: false, byte_fallback: false },
  };
  const config = { eos_token: control.at(-1), bos_token: control[0] };
  return openTokenizer({ folder: "memory", json, config, chatTemplate, named: [] });
}

/** Returns the characters with which GPT-2 writes bytes, by byte. */
function byteCharacters(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrinted = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(isPrinted ? byte : next++);
  });
}
