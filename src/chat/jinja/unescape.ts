import { JinjaError, UnsupportedJinjaError } from "./errors.ts";

const simple: Record<string, string> = {
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\n": "",
};
const digits: Record<string, number> = { x: 2, u: 4, U: 8 };
const escapes = /\\(x[\da-fA-F]{0,2}|u[\da-fA-F]{0,4}|U[\da-fA-F]{0,8}|[0-7]{1,3}|.)/gsu;

/** The value of a text literal by Python's `unicode-escape`. Unknown escapes stay unchanged. Throws JinjaError. */
export function unescaped(literal: string): string {
  if (!literal.includes("\\")) return literal;
  return literal.replaceAll(escapes, (whole, escaped: string) => {
    const known = simple[escaped];
    if (known !== undefined) return known;
    const kind = escaped[0] ?? "";
    if (kind === "N") throw new UnsupportedJinjaError("characters by name (\\N{…}) are not supported");
    const length = digits[kind];
    if (length !== undefined) {
      const code = Number.parseInt(escaped.slice(1), 16);
      if (escaped.length !== length + 1 || code > 0x10ffff) throw new JinjaError(`invalid escape ${whole}`);
      return String.fromCodePoint(code);
    }
    return /^[0-7]/.test(escaped) ? String.fromCodePoint(Number.parseInt(escaped, 8)) : whole;
  });
}
