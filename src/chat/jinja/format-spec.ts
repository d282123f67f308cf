import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { characters, lengthOf } from "./text.ts";
import type { Value } from "./values.ts";
import { floatText, str } from "./written.ts";

const form = /^(?:(.)?([<>=^]))?([-+ ]?)(z?)(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?([a-zA-Z%]?)$/su;

/** Formats a value by a format of Python's `format()`, such as ">10" or ",.2f". Throws JinjaError. */
export function formatted(value: Value, spec: string): string {
  const written = form.exec(spec);
  if (written === null) throw new JinjaError(`invalid format specifier '${spec}'`);
  const [, fill, align, sign = "", z, alternate, zero, width, grouping = "", precision, type = ""] = written;
  if (spec !== "" && (value === null || typeof value === "object"))
    throw new JinjaError("the format string is not supported for this type");
  if (z || alternate) throw new UnsupportedJinjaError(`the format '${spec}' is not supported`);
  const wanted = Number(width);
  if (wanted > 10_000) throw new UnsupportedJinjaError(`the format '${spec}' is not supported`);
  if (
    typeof value === "string" ||
    value === null ||
    typeof value === "object" ||
    (typeof value === "boolean" && type === "" && spec === "")
  ) {
    if (sign || grouping || align === "=" || (type !== "" && type !== "s"))
      throw new JinjaError(`the format '${spec}' is none of a text`);
    const text = str(value);
    const cut = precision === undefined ? text : characters(text).slice(0, Number(precision)).join("");
    return padded(cut, "", fill ?? (zero ? "0" : " "), align ?? "<", wanted);
  }
  const number = typeof value === "boolean" ? BigInt(value) : value;
  const body =
    typeof number === "bigint" && !/[eEfFgG%]/.test(type)
      ? ofInt(number, type, precision)
      : ofFloat(Number(number), type, precision);
  const negative = body.startsWith("-");
  const digits = negative ? body.slice(1) : body;
  const mark = negative ? "-" : sign === "+" || sign === " " ? sign : "";
  const place = align ?? (zero ? "=" : ">");
  const filler = fill ?? (zero ? "0" : " ");
  if (grouping !== "" && filler === "0" && place === "=" && wanted > 0)
    throw new UnsupportedJinjaError(`the format '${spec}' is not supported`);
  return padded(grouped(digits, grouping), mark, filler, place, wanted);
}

function padded(text: string, sign: string, fill: string, align: string, width: number): string {
  const missing = Math.max(0, width - lengthOf(text) - sign.length);
  if (align === "=") return sign + fill.repeat(missing) + text;
  if (align === "^") {
    const before = Math.floor(missing / 2);
    return fill.repeat(before) + sign + text + fill.repeat(missing - before);
  }
  return align === "<" ? sign + text + fill.repeat(missing) : fill.repeat(missing) + sign + text;
}

function grouped(digits: string, separator: string): string {
  if (separator === "") return digits;
  return digits.replace(/^\d+/, (whole) => whole.replaceAll(/\B(?=(?:\d{3})+$)/g, separator));
}

function ofInt(value: bigint, type: string, precision: string | undefined): string {
  if (precision !== undefined) throw new JinjaError("precision is not allowed in integer format");
  if (type === "" || type === "d") return String(value);
  if (type === "x") return value.toString(16);
  if (type === "X") return value.toString(16).toUpperCase();
  if (type === "o") return value.toString(8);
  if (type === "b") return value.toString(2);
  if (type === "c") return String.fromCodePoint(Number(value));
  throw new JinjaError(`unknown format code '${type}' for int`);
}

/** Formats a float with `precision` digits by the format codes e, f, g and %. */
export function ofFloat(value: number, type: string, precision: string | undefined): string {
  const upper = type === type.toUpperCase() && type !== "";
  if (!Number.isFinite(value)) {
    const text = floatText(value) + (type === "%" ? "%" : "");
    return upper ? text.toUpperCase() : text;
  }
  const places = precision === undefined ? 6 : Number(precision);
  if (places > 100) throw new UnsupportedJinjaError(`a precision of ${places} is not supported`);
  switch (type.toLowerCase()) {
    case "f":
      return fixed(value, places);
    case "%":
      return `${fixed(value * 100, places)}%`;
    case "e": {
      const text = scientific(value, places);
      return upper ? text.toUpperCase() : text;
    }
    case "g": {
      const text = general(value, places);
      return upper ? text.toUpperCase() : text;
    }
    case "":
      return precision === undefined ? floatText(value) : general(value, places, true);
  }
  throw new JinjaError(`unknown format code '${type}' for float`);
}

/** Fixed notation at any size: `toFixed` is exact below 1e21 and writes exponents above. */
export function fixed(value: number, places: number): string {
  if (Math.abs(value) >= 1e21) return BigInt(value) + (places > 0 ? `.${"0".repeat(places)}` : "");
  return Object.is(value, -0) || (value < 0 && Number(value.toFixed(places)) === 0)
    ? `-${Math.abs(value).toFixed(places)}`
    : evenFixed(value, places);
}

/** Rounds exact ties to even, like Python. `toFixed` rounds them away from zero. */
function evenFixed(value: number, places: number): string {
  const up = value.toFixed(places);
  const isTie = Number.isFinite(value) && places <= 20 && tied(value, places);
  if (!isTie || Number(up.at(-1)) % 2 === 0) return up;
  const toward = BigInt(up.replace(".", "")) - (value < 0 ? -1n : 1n);
  const digits = String(toward < 0n ? -toward : toward).padStart(places + 1, "0");
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return value < 0 ? `-${text}` : text;
}

/** Whether a float is exactly between two decimals with this number of places. */
function tied(value: number, places: number): boolean {
  const exact = value.toFixed(Math.min(100, places + 60)).replace(/0+$/, "");
  return exact.split(".")[1]?.length === places + 1 && exact.endsWith("5");
}

function scientific(value: number, places: number): string {
  const [mantissa, power = "+0"] = value.toExponential(places).split("e");
  const sign = Object.is(value, -0) ? "-" : "";
  return `${sign}${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

/** The shorter of both notations for a float. `asFloat` is Python's own, with at least one digit after the point. */
function general(value: number, places: number, asFloat = false): string {
  const digits = Math.max(1, places);
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  const trimmed = (written: string) =>
    written.includes(".") ? written.replace(/\.?0+(?=e|$)/, "") : written;
  if (exponent < -4 || exponent >= digits - (asFloat ? 1 : 0)) return trimmed(scientific(value, digits - 1));
  const text = trimmed(fixed(value, Math.min(100, digits - 1 - exponent)));
  return asFloat && !text.includes(".") ? `${text}.0` : text;
}
