import type { Budget } from "./budget.ts";
import { numeric } from "./compare.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { ofFloat } from "./format-spec.ts";
import { characters, lengthOf } from "./text.ts";
import { Dict, Range, Tuple, typeOf, Undefined, type Value } from "./values.ts";
import { repr, str } from "./written.ts";

const directive = /%(?:\(([^)]*)\))?([-+ 0#]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.)?/gsu;

/** Python's `text % values`. Throws JinjaError. */
export function percentFormat(budget: Budget, text: string, values: Value): string {
  const given = values instanceof Tuple ? values.items : [values];
  let at = 0;
  let usedNames = false;
  const next = () => {
    const value = given[at++];
    if (value === undefined) throw new JinjaError("not enough arguments for format string");
    return value;
  };
  const result = text.replaceAll(
    directive,
    (
      whole,
      name: string | undefined,
      flags: string,
      width: string,
      precision: string | undefined,
      type: string | undefined,
    ) => {
      if (type === undefined) throw new JinjaError("incomplete format");
      if (width === "*" || precision === "*" || flags.includes("#"))
        throw new UnsupportedJinjaError(`the format '${whole}' is not supported`);
      if (type === "%") return "%";
      let value: Value;
      if (name === undefined) value = next();
      else {
        if (!(values instanceof Dict)) throw new JinjaError("format requires a mapping");
        const found = values.get(name);
        if (found === undefined) throw new JinjaError(`there is no '${name}'`);
        usedNames = true;
        value = found;
      }
      return directed(value, type, flags, Number(width), precision);
    },
  );
  if (!usedNames && at < given.length && !isMapping(values))
    throw new JinjaError("not all arguments converted during string formatting");
  return budget.text(result);
}

/** Whether Python's `%` treats a value as a mapping, whose entries may stay unused. */
function isMapping(value: Value): boolean {
  return Array.isArray(value) || [Dict, Range, Undefined].some((type) => value instanceof type);
}

function directed(
  value: Value,
  type: string,
  flags: string,
  width: number,
  precision: string | undefined,
): string {
  if (width > 10_000) throw new UnsupportedJinjaError("a width above 10,000 is not supported");
  const body = written(value, type, precision);
  const isNumber = /[diueEfFgGxXo]/.test(type);
  const sign = !isNumber
    ? ""
    : body.startsWith("-")
      ? "-"
      : flags.includes("+")
        ? "+"
        : flags.includes(" ")
          ? " "
          : "";
  const digits = isNumber && body.startsWith("-") ? body.slice(1) : body;
  const missing = Math.max(0, width - lengthOf(digits) - sign.length);
  if (flags.includes("-")) return sign + digits + " ".repeat(missing);
  if (flags.includes("0") && isNumber) return sign + "0".repeat(missing) + digits;
  return " ".repeat(missing) + sign + digits;
}

function written(value: Value, type: string, precision: string | undefined): string {
  const number = numeric(value);
  switch (type) {
    case "s":
    case "r": {
      const text = type === "s" ? str(value) : repr(value);
      return precision === undefined ? text : characters(text).slice(0, Number(precision)).join("");
    }
    case "d":
    case "i":
    case "u":
      if (typeof number === "bigint") return integer(String(number), precision);
      if (number !== undefined && Number.isFinite(number))
        return integer(String(BigInt(Math.trunc(number))), precision);
      throw new JinjaError(`%${type} format: a real number is required, not ${typeOf(value)}`);
    case "x":
    case "X":
    case "o": {
      if (typeof number !== "bigint") throw new JinjaError(`%${type} format: an integer is required`);
      const text = integer(number.toString(type === "o" ? 8 : 16), precision);
      return type === "X" ? text.toUpperCase() : text;
    }
    case "c":
      if (typeof value === "string" && lengthOf(value) === 1) return value;
      if (typeof number === "bigint" && number >= 0n && number <= 0x10ffffn)
        return String.fromCodePoint(Number(number));
      throw new JinjaError("%c requires int or char");
  }
  if (!/[eEfFgG]/.test(type)) throw new JinjaError(`unsupported format character '${type}'`);
  if (number === undefined) throw new JinjaError(`must be real number, not ${typeOf(value)}`);
  return ofFloat(Number(number), type, precision === "" ? "0" : precision);
}

function integer(digits: string, precision: string | undefined): string {
  if (precision === undefined) return digits;
  const negative = digits.startsWith("-");
  const padded = digits.replace("-", "").padStart(Number(precision), "0");
  return negative ? `-${padded}` : padded;
}
