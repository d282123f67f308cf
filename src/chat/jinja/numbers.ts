import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { fixed } from "./format-spec.ts";
import { stripped } from "./text.ts";

/** Reads an int like Python's `int(text, base)`; undefined if the text is not an int. */
export function parseInt10(text: string, base: number): bigint | undefined {
  if (base !== 0 && (base < 2 || base > 36)) return undefined;
  const [, sign, prefix, body = ""] =
    /^([-+]?)(0[xob]_?)?(\w+)$/i.exec(asciiDigits(stripped(text, null, "both"))) ?? [];
  const prefixed = prefix === undefined ? undefined : { x: 16, o: 8, b: 2 }[prefix.charAt(1).toLowerCase()];
  const fits = prefixed !== undefined && (base === 0 || base === prefixed);
  const digits = fits || prefix === undefined ? body : `${prefix}${body}`;
  const radix = fits ? prefixed : base === 0 ? 10 : base;
  if (!/^[\da-z]+(?:_[\da-z]+)*$/i.test(digits)) return undefined;
  if (base === 0 && !fits && /^0+[1-9]/.test(digits.replaceAll("_", ""))) return undefined;
  let value = 0n;
  for (const digit of digits.replaceAll("_", "").toLowerCase()) {
    const worth = Number.parseInt(digit, 36);
    if (worth >= radix) return undefined;
    value = value * BigInt(radix) + BigInt(worth);
  }
  return sign === "-" ? -value : value;
}

/** Reads a float like Python's `float(text)`; undefined if the text is not a float. */
export function parseFloat64(text: string): number | undefined {
  const written = asciiDigits(stripped(text, null, "both"));
  const word = /^([-+]?)(inf|infinity|nan)$/i.exec(written);
  if (word)
    return (
      (word[2]?.toLowerCase() === "nan" ? Number.NaN : Number.POSITIVE_INFINITY) * (word[1] === "-" ? -1 : 1)
    );
  const digits = "\\d+(?:_\\d+)*";
  const form = new RegExp(`^[-+]?(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:[eE][-+]?${digits})?$`);
  return form.test(written) ? Number(written.replaceAll("_", "")) : undefined;
}

/** Converts digits of other scripts, which Python reads too, to ASCII. */
function asciiDigits(text: string): string {
  if (/(?![0-9])\p{Nd}/u.test(text))
    throw new UnsupportedJinjaError("numbers in digits of other scripts are not supported");
  return text;
}

/** Python's `round(value, places)` of a float: ties to even, by the exact decimal value. */
export function roundedFloat(value: number, places: number): number {
  if (!Number.isFinite(value) || places > 22) return value;
  if (places >= 0) return Number(fixed(value, places));
  if (places < -22) throw new UnsupportedJinjaError(`rounding to ${places} places is not supported`);
  const unit = 10 ** -places;
  const times = value / unit;
  const floor = Math.floor(times);
  const rest = value - floor * unit;
  const up = rest > unit / 2 || (rest === unit / 2 && floor % 2 !== 0);
  const result = (up ? floor + 1 : floor) * unit;
  return result === 0 && value < 0 ? -0 : result;
}

/** Python's `round(value, places)` of an int. */
export function roundedInt(value: bigint, places: number): bigint {
  if (places >= 0) return value;
  if (places < -1000) throw new UnsupportedJinjaError(`rounding to ${places} places is not supported`);
  const unit = 10n ** BigInt(-places);
  const rest = ((value % unit) + unit) % unit;
  const floor = value - rest;
  const isUp = rest * 2n > unit || (rest * 2n === unit && (floor / unit) % 2n !== 0n);
  return isUp ? floor + unit : floor;
}

/** Truncates a float to an int. Throws JinjaError for infinity and NaN. */
export function truncated(value: number): bigint {
  if (!Number.isFinite(value)) throw new JinjaError("cannot convert float infinity or NaN to integer");
  return BigInt(Math.trunc(value));
}
