import { spend } from "./budget.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import {
  Dict,
  DictView,
  Markup,
  Namespace,
  type Thing,
  Tuple,
  typeOf,
  Undefined,
  type Value,
} from "./values.ts";

/** Python's `str` of a value. Throws UnsupportedJinjaError if that would contain an address. */
export function str(value: Value): string {
  if (typeof value === "string") return value;
  if (value instanceof Markup) return value.text;
  return value instanceof Undefined ? "" : repr(value);
}

/**
 * Python's `repr` of a value, with texts in quotes. Throws UnsupportedJinjaError if that would contain an address.
 */
export function repr(value: Value): string {
  spend(typeof value === "string" ? 1 + value.length / 16 : 1);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "bigint") return digitsOf(value);
  if (typeof value === "number") return floatText(value);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  if (value instanceof Tuple)
    return `(${value.items.map(repr).join(", ")}${value.items.length === 1 ? "," : ""})`;
  if (value instanceof Dict) return dictText(value.entries());
  if (value instanceof Namespace) return `<Namespace ${dictText(value.members)}>`;
  if (value instanceof DictView) return `${value.type}([${value.items().map(repr).join(", ")}])`;
  return printedThing(value);
}

function printedThing(value: Thing): string {
  const printed = value.printed();
  if (printed === undefined) throw new UnsupportedJinjaError(`printing a ${typeOf(value)} is not supported`);
  return printed;
}

function dictText(entries: Iterable<readonly [Value, Value]>): string {
  return `{${[...entries].map(([key, value]) => `${repr(key)}: ${repr(value)}`).join(", ")}}`;
}

/** The most digits that Python writes. */
const mostDigits = 4300;

function digitsOf(value: bigint): string {
  const digits = String(value);
  spend(digits.length / 8); // its time grows with the square
  if (digits.length > mostDigits)
    throw new JinjaError(`an int of more than ${mostDigits} digits can't be written`);
  return digits;
}

/** Python's `repr` of a float: 1.0, 1e+16, 1e-05. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= 16 || exponent < -4) {
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const digits = mantissa.replace(/[-.]/g, "");
  const sign = value < 0 ? "-" : "";
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

const named: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };
const unprintable = /[\\'"]|[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** Whether Python considers a character printable. */
export const isPrintable = (text: string): boolean => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(text);

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(unprintable, (character) => {
    if (character === "'" || character === '"') return character === quote ? `\\${character}` : character;
    const known = named[character];
    if (known !== undefined) return known;
    const code = character.codePointAt(0) ?? 0;
    const [mark, length] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return `\\${mark}${code.toString(16).padStart(Number(length), "0")}`;
  });
  return quote + escaped + quote;
}
