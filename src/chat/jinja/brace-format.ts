import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { formatted } from "./format-spec.ts";
import type { Args, Value } from "./values.ts";
import { repr, str } from "./written.ts";

/** Reads attributes and items of values. */
export interface Access {
  attribute(object: Value, name: string): Value;
  item(object: Value, key: Value): Value;
}

/** Python's `text.format(…)`. Throws JinjaError. */
export function braceFormat(text: string, args: Args, access: Access): string {
  let next = 0;
  let numbering: "own" | "given" | undefined;
  const valueNamed = (name: string): Value => {
    if (name === "" || /^\d+$/.test(name)) {
      const kind = name === "" ? "own" : "given";
      if (numbering !== undefined && numbering !== kind)
        throw new JinjaError(
          "cannot switch between automatic field numbering and manual field specification",
        );
      numbering = kind;
      const value = args.positional[name === "" ? next++ : Number(name)];
      if (value === undefined) throw new JinjaError("replacement index out of range for positional args");
      return value;
    }
    const value = args.named.get(name);
    if (value === undefined) throw new JinjaError(`'${name}' is not given`);
    return value;
  };
  let result = "";
  let at = 0;
  while (at < text.length) {
    const brace = /[{}]/g;
    brace.lastIndex = at;
    const found = brace.exec(text);
    if (found === null) return result + text.slice(at);
    result += text.slice(at, found.index);
    const mark = found[0];
    if (text[found.index + 1] === mark) {
      result += mark;
      at = found.index + 2;
      continue;
    }
    if (mark === "}") throw new JinjaError("single '}' encountered in format string");
    const end = text.indexOf("}", found.index);
    if (end < 0) throw new JinjaError("expected '}' before end of string");
    const field = text.slice(found.index + 1, end);
    if (field.includes("{"))
      throw new UnsupportedJinjaError("fields inside of fields of a format are not supported");
    result += fieldText(field, valueNamed, access);
    at = end + 1;
  }
  return result;
}

function fieldText(field: string, valueNamed: (name: string) => Value, access: Access): string {
  const [, name = "", conversion, spec = ""] = /^([^!:]*)(?:!([^:]*))?(?::(.*))?$/s.exec(field) ?? [];
  const [, first = "", rest = ""] = /^([^.[]*)(.*)$/s.exec(name) ?? [];
  let value = valueNamed(first);
  const step = /\.([^.[]+)|\[([^\]]+)\]/gy;
  for (let at = 0; at < rest.length; at = step.lastIndex) {
    step.lastIndex = at;
    const found = step.exec(rest);
    if (found === null) throw new JinjaError(`'${name}' is no field of a format`);
    const [, attribute, item = ""] = found;
    if (attribute !== undefined) value = access.attribute(value, attribute);
    else value = access.item(value, /^\d+$/.test(item) ? BigInt(item) : item);
  }
  if (conversion !== undefined) {
    if (conversion !== "s" && conversion !== "r")
      throw new UnsupportedJinjaError(`the conversion '!${conversion}' is not supported`);
    value = conversion === "s" ? str(value) : repr(value);
  }
  return formatted(value, spec);
}
