import { isObject } from "../contracts/json.ts";

type Json = Record<string, unknown>;

/** A normalizer of tokenizer.json in parts that @huggingface/tokenizers applies as Python's `tokenizers` does. Throws Error for one that it can't. */
export function exactNormalizer(config: unknown): unknown {
  if (!isObject(config)) return config;
  switch (config.type) {
    case "Sequence":
      return { ...config, normalizers: parts(config.normalizers, exactNormalizer) };
    case "Replace":
      return { ...config, content: literal(config.content) };
    case "Lowercase": // Python's changes a character at a time, so that no sigma is a final one
      return sequence([replace("Σ", "σ"), config]);
    case "Strip": // Python's white space has no U+FEFF
      return sequence([
        ...(config.strip_left === true ? [replace("\\A\\s+", "")] : []),
        ...(config.strip_right === true ? [replace("\\s+\\z", "")] : []),
      ]);
  }
  return config;
}

/** A decoder of tokenizer.json in parts that @huggingface/tokenizers applies as Python's `tokenizers` does. */
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

function parts(configs: unknown, change: (config: unknown) => unknown): unknown[] {
  return Array.isArray(configs) ? configs.map(change) : [];
}

function sequence(normalizers: Json[]): Json {
  return { type: "Sequence", normalizers };
}

function replace(regex: string, content: string): Json {
  return { type: "Replace", pattern: { Regex: regex }, content };
}

/** A replacement in which no $ has a meaning. */
function literal(content: unknown): string {
  return String(content ?? "").replaceAll("$", "$$$$");
}
