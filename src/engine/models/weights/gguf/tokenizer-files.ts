import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../../../contracts/json.ts";
import type { GgufHeader } from "./header.ts";
import { preTokenizers } from "./pre-tokenizers.ts";
import { tokenizerModel } from "./tokenizer-model.ts";
import { readVocabulary, tokenTypes, type Vocabulary } from "./vocabulary.ts";

const specialTokens = { bos_token: "bos", eos_token: "eos", unk_token: "unknown", pad_token: "padding" };

/**
 * Writes tokenizer.json and tokenizer_config.json (including the chat template) in transformers' format from a GGUF
 * file's metadata. Throws GGUF_UNSUPPORTED.
 */
export async function writeTokenizerFiles(
  folder: string,
  path: string,
  metadata: GgufHeader["metadata"],
): Promise<void> {
  const vocabulary = readVocabulary(path, metadata);
  const named = Object.entries(specialTokens).flatMap(([name, key]) => {
    const token = vocabulary.tokens[Number(metadata.get(`tokenizer.ggml.${key}_token_id`) ?? -1)];
    return token === undefined ? [] : [[name, token] as const];
  });
  const special: Record<string, string> = Object.fromEntries(named);
  const begins = metadata.get("tokenizer.ggml.add_bos_token") ?? beginsByDefault(metadata);
  const opening = begins === true ? special.bos_token : undefined;
  const { model, ...steps } = tokenizerModel(path, metadata, vocabulary);
  await writeJson(join(folder, "tokenizer.json"), {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokens(vocabulary),
    normalizer: steps.normalizer,
    pre_tokenizer: steps.pre_tokenizer,
    post_processor: opening === undefined ? null : beginWith(opening, vocabulary.tokens.indexOf(opening)),
    decoder: steps.decoder,
    model,
  });
  const template = metadata.get("tokenizer.chat_template");
  await writeJson(join(folder, "tokenizer_config.json"), {
    tokenizer_class: "PreTrainedTokenizerFast",
    clean_up_tokenization_spaces: false,
    add_bos_token: opening !== undefined,
    ...special,
    ...(typeof template === "string" ? { chat_template: template } : {}),
  });
}

/** Whether llama.cpp begins a text with bos by default. */
function beginsByDefault(metadata: GgufHeader["metadata"]): boolean {
  if (metadata.get("tokenizer.ggml.model") === "llama") return true;
  return preTokenizers.get(String(metadata.get("tokenizer.ggml.pre")))?.begins === true;
}

/** Returns the tokens that are recognized as a whole anywhere in a text. */
function addedTokens({ tokens, types }: Vocabulary): JsonObject[] {
  return tokens.flatMap((content, id) => {
    const type = types[id];
    if (type !== tokenTypes.control && type !== tokenTypes.userDefined) return [];
    const shape = { single_word: false, lstrip: false, rstrip: false, normalized: false };
    return [{ id, content, ...shape, special: type === tokenTypes.control }];
  });
}

function beginWith(token: string, id: number): JsonObject {
  const sequence = (name: string, type: number) => ({ Sequence: { id: name, type_id: type } });
  const opening = (type: number) => ({ SpecialToken: { id: token, type_id: type } });
  return {
    type: "TemplateProcessing",
    single: [opening(0), sequence("A", 0)],
    pair: [opening(0), sequence("A", 0), opening(1), sequence("B", 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

async function writeJson(path: string, value: JsonObject): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 1)}\n`);
}
