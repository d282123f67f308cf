import { isObject } from "../contracts/json.ts";

type Json = Record<string, unknown>;

const word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const punctuation = "\\p{P}!-/:-@\\[-`{-~";
const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * A pre-tokenizer of tokenizer.json in parts that @huggingface/tokenizers splits by as Python's `tokenizers` does: it knows
 * neither most behaviors of Split nor Unicode in Whitespace, and merges what Punctuation keeps apart. Throws Error for
 * what it can't split by exactly.
 */
export function exactPreTokenizer(config: unknown): unknown {
  if (!isObject(config)) return config;
  switch (config.type) {
    case "Sequence":
      return {
        ...config,
        pretokenizers: Array.isArray(config.pretokenizers) ? config.pretokenizers.map(exactPreTokenizer) : [],
      };
    case "Split":
      return split(patternOf(config.pattern), String(config.behavior ?? ""), config.invert === true);
    case "Digits":
      return split(config.individual_digits === true ? "\\p{N}" : "\\p{N}+", "Isolated");
    case "Punctuation":
      return split(`[${punctuation}]`, String(config.behavior ?? "Isolated"));
    case "Whitespace":
      return pieces(`[${word}]+|[^${word}\\p{White_Space}]+`);
    case "WhitespaceSplit":
      return pieces("[^\\p{White_Space}]+");
    case "BertPreTokenizer":
      return pieces(`[^\\p{White_Space}${punctuation}]+|[${punctuation}]`);
    case "ByteLevel":
      return byteLevel(config);
    case "Metaspace":
      return metaspace(config);
  }
  return config;
}

/** Splits a text into what `regex` matches; the rest goes. */
function pieces(regex: string): Json {
  return { type: "Split", pattern: { Regex: regex }, behavior: "Removed", invert: true };
}

/** A Split by what a pattern matches; inverted, by what lies between. */
function split(pattern: string, behavior: string, invert = false): Json {
  const match = `(?:${pattern})`;
  const rest = `(?:(?!${match})[\\s\\S])`;
  const withNext = `${match}${rest}*|${rest}+`;
  const withPrevious = `${rest}*${match}|${rest}+`;
  switch (behavior) {
    case "Removed":
      return pieces(invert ? match : `${rest}+`);
    case "Isolated":
      return { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false };
    case "Contiguous":
      return pieces(`${match}+|${rest}+`);
    case "MergedWithPrevious":
      return pieces(invert ? withNext : withPrevious);
    case "MergedWithNext":
      return pieces(invert ? withPrevious : withNext);
  }
  throw new Error(`Split knows no behavior ${behavior}`);
}

/** A pattern as a regular expression. Throws Error where there is none. */
function patternOf(pattern: unknown): string {
  if (isObject(pattern) && typeof pattern.Regex === "string") return pattern.Regex;
  if (isObject(pattern) && typeof pattern.String === "string")
    return pattern.String.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  throw new Error("Split has no pattern");
}

function byteLevel(config: Json): Json {
  const steps: Json[] = [];
  if (config.add_prefix_space !== false)
    steps.push({ type: "Replace", pattern: { Regex: "\\A[^ ]" }, content: " $&" });
  if (config.use_regex !== false) steps.push(pieces(gpt2));
  const bytes = { ...config, add_prefix_space: false, use_regex: false };
  return steps.length === 0 ? bytes : { type: "Sequence", pretokenizers: [...steps, bytes] };
}

function metaspace(config: Json): Json {
  const { replacement = "\u2581", split: isSplit = true, add_prefix_space: prefixed } = config;
  const scheme = config.prepend_scheme ?? (prefixed === false ? "never" : "always");
  const whole = { type: "Metaspace", replacement, prepend_scheme: scheme };
  if (isSplit === false) return whole;
  return {
    type: "Sequence",
    pretokenizers: [whole, split(patternOf({ String: replacement }), "MergedWithNext")],
  };
}
