import type { Budget } from "./budget.ts";
import { sortedBy } from "./compare.ts";
import { JinjaError } from "./errors.ts";
import { Dict, Markup, Tuple, typeOf, type Value } from "./values.ts";
import { floatText, repr } from "./written.ts";

/** The style of Python's `json.dumps`. transformers passes these options to the filter `tojson`. */
export interface JsonStyle {
  ensureAscii: boolean;
  /** The indentation per level; undefined for a single line. */
  indent: string | undefined;
  separators: readonly [string, string];
  sortKeys: boolean;
}

/** A value as JSON in Python's style. Throws JinjaError for values that JSON can't represent. */
export function toJson(budget: Budget, value: Value, style: JsonStyle, depth = 0): string {
  budget.step();
  if (typeof value === "string") return jsonText(value, style.ensureAscii);
  if (value instanceof Markup) return jsonText(value.text, style.ensureAscii);
  if (value === null || typeof value !== "object") return scalar(value);
  const [between, afterKey] = style.separators;
  const parts: string[] = [];
  const [open, close] = value instanceof Dict ? ["{", "}"] : ["[", "]"];
  if (value instanceof Dict) {
    const keys = style.sortKeys ? sortedBy(value.keys(), (key) => key, false) : value.keys();
    for (const key of keys) {
      const written = toJson(budget, value.get(key) ?? null, style, depth + 1);
      parts.push(jsonText(keyText(key), style.ensureAscii) + afterKey + written);
    }
  } else if (Array.isArray(value) || value instanceof Tuple) {
    const items = value instanceof Tuple ? value.items : value;
    for (const item of items) parts.push(toJson(budget, item, style, depth + 1));
  } else throw new JinjaError(`Object of type ${typeOf(value)} is not JSON serializable`);
  if (parts.length === 0) return open + close;
  if (style.indent === undefined) return budget.text(open + parts.join(between) + close);
  const line = `\n${style.indent.repeat(depth)}`;
  return budget.text(open + line + style.indent + parts.join(between + line + style.indent) + line + close);
}

function scalar(value: null | boolean | bigint | number): string {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return repr(value);
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? floatText(value) : value < 0 ? "-Infinity" : "Infinity";
}

function keyText(key: Value): string {
  if (typeof key === "string") return key;
  if (key === null || typeof key !== "object") return scalar(key);
  throw new JinjaError(`keys must be str, int, float, bool or None, not ${typeOf(key)}`);
}

const escapes: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\f": "\\f",
  "\b": "\\b",
};

const notAscii = /[\\"]|[^ -~]/g;
const notPlain = /[\\"]|(?![\x7f-\x9f])\p{Cc}/gu;

function jsonText(text: string, ensureAscii: boolean): string {
  const escaped = text.replaceAll(
    ensureAscii ? notAscii : notPlain,
    (character) => escapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `"${escaped}"`;
}
