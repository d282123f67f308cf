import type { JsonObject } from "../../contracts/json.ts";

/** How a byte-level vocabulary splits a text before it merges bytes, as tokenizer.json has it. */
export interface PreTokenizer {
  normalizer: JsonObject | null;
  preTokenizer: JsonObject;
  /** Whether a piece that is a token is taken as it is. */
  ignoreMerges: boolean;
}

const llama3Split =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}" +
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const qwen2Split = llama3Split.replace("\\p{N}{1,3}", "\\p{N}");
const tekkenSplit =
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+" +
  "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*" +
  "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

const digits = { type: "Digits", individual_digits: true };

/** The pre-tokenizers that a GGUF file may name in tokenizer.ggml.pre. */
export const preTokenizers: ReadonlyMap<string, PreTokenizer> = new Map([
  ["smollm", plain(sequence(digits, bytes(true)))],
  ["gpt-2", plain(bytes(true))],
  ["llama-bpe", { ...plain(sequence(split(llama3Split), bytes(false))), ignoreMerges: true }],
  ["qwen2", { ...plain(sequence(split(qwen2Split), bytes(false))), normalizer: { type: "NFC" } }],
  ["tekken", { ...plain(sequence(split(tekkenSplit), bytes(false))), ignoreMerges: true }],
]);

/** The name in GGUF of what a tokenizer.json says; undefined if it has none here. */
export function preTokenizerName(normalizer: unknown, preTokenizer: unknown): string | undefined {
  const wanted = summary(normalizer, preTokenizer);
  const names = [...preTokenizers.keys()];
  return names.find((name) => {
    const known = preTokenizers.get(name)!;
    return summary(known.normalizer, known.preTokenizer) === wanted;
  });
}

/** What decides the split, without what only decides offsets. */
function summary(normalizer: unknown, preTokenizer: unknown): string {
  const { pretokenizers } = fields(preTokenizer);
  const steps: unknown[] = Array.isArray(pretokenizers) ? pretokenizers : [preTokenizer];
  const decisive = [normalizer, ...steps].map((step) => {
    const { trim_offsets: _, ...rest } = fields(step);
    const defaults = rest.type === "ByteLevel" ? { use_regex: true, add_prefix_space: false } : {};
    return Object.entries({ ...defaults, invert: false, ...rest }).sort();
  });
  return JSON.stringify(decisive);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function plain(preTokenizer: JsonObject): PreTokenizer {
  return { normalizer: null, preTokenizer, ignoreMerges: false };
}

function sequence(...pretokenizers: JsonObject[]): JsonObject {
  return { type: "Sequence", pretokenizers };
}

function split(regex: string): JsonObject {
  return { type: "Split", pattern: { Regex: regex }, behavior: "Isolated", invert: false };
}

function bytes(useRegex: boolean): JsonObject {
  return { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: useRegex };
}
