import type { JsonObject } from "../../../../contracts/json.ts";
import { deepseekSplits } from "./deepseek-splits.ts";

/** How a byte-level vocabulary splits a text before it merges bytes, in the form of tokenizer.json. */
export interface PreTokenizer {
  normalizer: JsonObject | null;
  preTokenizer: JsonObject;
  /** Whether a piece that is a token is taken whole. */
  ignoreMerges: boolean;
  /** Whether a text begins with bos_token by default. */
  begins: boolean;
}

const llama3Split =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}" +
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const qwen2Split = llama3Split.replace("\\p{N}{1,3}", "\\p{N}");
// Qwen 3.5 keeps marks with their letters
const qwen35Split = qwen2Split
  .replace("\\p{L}+", "[\\p{L}\\p{M}]+")
  .replace("[^\\s\\p{L}", "[^\\s\\p{L}\\p{M}");
const tekkenSplit =
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+" +
  "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*" +
  "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
// o200k_base of OpenAI's tiktoken: Tekken's words with an English contraction after them, and three digits together
const contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
const gpt4oSplit = tekkenSplit
  .replaceAll("\\p{M}]+|", `\\p{M}]+${contraction}|`)
  .replaceAll("\\p{M}]*|", `\\p{M}]*${contraction}|`)
  .replace("\\p{N}|", "\\p{N}{1,3}|");

const digits = { type: "Digits", individual_digits: true };

const nfc = { normalizer: { type: "NFC" } };
const whole = { ignoreMerges: true, begins: true };

/** The pre-tokenizers that a GGUF file may name in tokenizer.ggml.pre. */
export const preTokenizers: ReadonlyMap<string, PreTokenizer> = new Map([
  ["smollm", plain(digits, bytes(true))],
  ["gpt-2", plain(bytes(true))],
  ["llama-bpe", { ...plain(split(llama3Split), bytes(false)), ...whole }],
  ["qwen2", { ...plain(split(qwen2Split), bytes(false)), ...nfc }],
  ["qwen35", plain(split(qwen35Split), bytes(false))],
  ["tekken", { ...plain(split(tekkenSplit), bytes(false)), ...whole }],
  ["gpt-4o", plain(split(gpt4oSplit), bytes(false))],
  ["deepseek-llm", plain(...deepseekSplits.llm.map(split), digits, bytes(false))],
  ["deepseek-coder", plain(...deepseekSplits.coder.map(split), digits, bytes(false))],
  ["starcoder", plain(digits, bytes(true))],
  ["refact", plain(digits, bytes(true))],
  ["command-r", { ...plain(digits, bytes(true)), ...nfc }],
  ["mpt", { ...plain(bytes(true)), ...nfc }],
  ["olmo", { ...plain(bytes(true)), ...nfc }],
  [
    "falcon",
    plain(
      { type: "Punctuation", behavior: "Contiguous" },
      bytes(true),
      { type: "Digits", individual_digits: false },
      split("[0-9][0-9][0-9]"),
    ),
  ],
]);

/** Returns GGUF's name for the splits of a tokenizer.json; undefined if there is none. */
export function preTokenizerName(normalizer: unknown, preTokenizer: unknown): string | undefined {
  const wanted = summary(normalizer, preTokenizer);
  const names = [...preTokenizers.keys()];
  return names.find((name) => {
    const known = preTokenizers.get(name)!;
    return summary(known.normalizer, known.preTokenizer) === wanted;
  });
}

/** Returns the parts that determine the split, without those that only affect offsets. */
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

/** Returns a pre-tokenizer of one step or several. */
function plain(...steps: JsonObject[]): PreTokenizer {
  const [first] = steps;
  const preTokenizer = first && steps.length === 1 ? first : { type: "Sequence", pretokenizers: steps };
  return { normalizer: null, preTokenizer, ignoreMerges: false, begins: false };
}

function split(regex: string): JsonObject {
  return { type: "Split", pattern: { Regex: regex }, behavior: "Isolated", invert: false };
}

function bytes(useRegex: boolean): JsonObject {
  return { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: useRegex };
}
