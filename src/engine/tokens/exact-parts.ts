import { isObject } from "../../contracts/json.ts";

type Json = Record<string, unknown>;

/**
 * Rewrites a normalizer of tokenizer.json so that @huggingface/tokenizers applies it like Python's `tokenizers`. Throws
 * Error if that is impossible.
 */
export function exactNormalizer(config: unknown): unknown {
  if (!isObject(config)) return config;
  switch (config.type) {
    case "Sequence":
      return { ...config, normalizers: parts(config.normalizers, exactNormalizer) };
    case "Replace":
      return { ...config, content: literal(config.content) };
    case "Lowercase":
      return lowercase;
    case "BertNormalizer":
      return bertNormalizer(config);
    case "Strip": // Python's white space does not include U+FEFF
      return sequence([
        ...(config.strip_left === true ? [replace("\\A\\s+", "")] : []),
        ...(config.strip_right === true ? [replace("\\s+\\z", "")] : []),
      ]);
  }
  return config;
}

/** Rewrites a decoder of tokenizer.json so that @huggingface/tokenizers applies it like Python's `tokenizers`. */
export function exactDecoder(config: unknown): unknown {
  if (!isObject(config)) return config;
  switch (config.type) {
    case "Sequence":
      return { ...config, decoders: parts(config.decoders, exactDecoder) };
    case "Replace":
      return { ...config, content: literal(config.content) };
    case "Metaspace": {
      const { replacement = "\u2581", prepend_scheme: scheme, add_prefix_space: prefixed } = config;
      const isNever = (scheme ?? (prefixed === false ? "never" : "always")) === "never";
      return isNever ? { type: "Replace", pattern: { String: replacement }, content: " " } : config;
    }
  }
  return config;
}

/** Python lowercases one character at a time and never writes a final sigma. */
const lowercase = sequence([replace("Σ", "σ"), { type: "Lowercase" }]);

/**
 * The blocks in which BERT treats each character as a word: CJK ideographs as of Unicode 5, with the same gap as in
 * Python.
 */
const chinese = [
  "\u4e00-\u9fff",
  "\u3400-\u4dbf",
  "\uf900-\ufaff",
  "\u{20000}-\u{2a6df}",
  "\u{2a700}-\u{2b81f}",
  "\u{2b920}-\u{2ceaf}",
  "\u{2f800}-\u{2fa1f}",
].join("");

/** The library's BertNormalizer misses ideographs beyond U+FFFF, and changes case before it strips accents. */
function bertNormalizer(config: Json): Json {
  const { clean_text, handle_chinese_chars, strip_accents, lowercase: isLowercase } = config;
  const none = { ...config, clean_text: false, handle_chinese_chars: false, strip_accents: false };
  return sequence([
    ...(clean_text === true ? [{ ...none, clean_text, lowercase: false }] : []),
    ...(handle_chinese_chars === true ? [replace(`[${chinese}]`, " $& ")] : []),
    ...((strip_accents ?? isLowercase) === true ? [{ type: "NFD" }, replace("\\p{Mn}", "")] : []),
    ...(isLowercase === true ? [lowercase] : []),
  ]);
}

function parts(configs: unknown, change: (config: unknown) => unknown): unknown[] {
  return Array.isArray(configs) ? configs.map(change) : [];
}

function sequence(normalizers: Json[]): Json {
  return { type: "Sequence", normalizers };
}

function replace(regex: string, content: string): Json {
  return { type: "Replace", pattern: { Regex: regex }, content };
}

/** Returns a replacement text in which $ has no special meaning. */
function literal(content: unknown): string {
  return String(content ?? "").replaceAll("$", "$$$$");
}
