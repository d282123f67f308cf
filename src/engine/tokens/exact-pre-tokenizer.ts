import { isObject } from "../../contracts/json.ts";
import { type SplitBehavior, splitBehaviors } from "./split-pieces.ts";

type Json = Record<string, unknown>;

const word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
const punctuation = "\\p{P}!-/:-@\\[-`{-~";
const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * Rewrites a pre-tokenizer of tokenizer.json so that it splits like Python's `tokenizers`. Whitespace of
 * @huggingface/tokenizers ignores Unicode, and its Punctuation merges pieces that Python separates. `exactTokenizer`
 * replaces its Split. Throws Error for an unknown behavior.
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
      if (!isObject(config.pattern)) throw new Error("Split has no pattern");
      return split(config.pattern, behaviorOf(config.behavior), config.invert === true);
    case "Digits":
      return split({ Regex: config.individual_digits === true ? "\\p{N}" : "\\p{N}+" }, "Isolated");
    case "Punctuation":
      return split({ Regex: `[${punctuation}]` }, behaviorOf(config.behavior ?? "Isolated"));
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

/** Returns a step that splits a text into the matches of `regex` and drops the rest. */
function pieces(regex: string): Json {
  return split({ Regex: regex }, "Removed", true);
}

function split(pattern: Json, behavior: SplitBehavior, invert = false): Json {
  return { type: "Split", pattern, behavior, invert };
}

/** Checks for a behavior that Python knows. Throws Error for others. */
function behaviorOf(value: unknown): SplitBehavior {
  const known = splitBehaviors.find((behavior) => behavior === value);
  if (known === undefined) throw new Error(`Split knows no behavior ${String(value)}`);
  return known;
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
    pretokenizers: [whole, split({ String: replacement }, "MergedWithNext")],
  };
}
