import { bind, intOf, textOf } from "./bind.ts";
import { numeric } from "./compare.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { capitalized } from "./letter-case.ts";
import { listFilters } from "./list-filters.ts";
import { parseFloat64, parseInt10, roundedFloat, roundedInt, truncated } from "./numbers.ts";
import { percentFormat } from "./percent-format.ts";
import type { FilterFunction } from "./run.ts";
import { joined, replacedWithin, stringMethods } from "./string-methods.ts";
import { characters, escapedHtml, lengthOf, space, splitAt, splitLines, stripped } from "./text.ts";
import { toJson } from "./to-json.ts";
import {
  Dict,
  isTrue,
  itemsOf,
  Lazy,
  listOf,
  Markup,
  needDefined,
  sizeOf,
  Tuple,
  typeOf,
  Undefined,
  type Value,
} from "./values.ts";
import { str } from "./written.ts";

const absolute: FilterFunction = (value, args) => {
  bind("abs", args, []);
  needDefined(value);
  const number = numeric(value);
  if (number === undefined) throw new JinjaError(`bad operand type for abs(): '${typeOf(value)}'`);
  return typeof number === "bigint" ? (number < 0n ? -number : number) : Math.abs(number);
};

const center: FilterFunction = (value, args, { access }) => {
  const [width = 80n] = bind("center", args, ["width"]);
  return stringMethods.center?.(str(value), { positional: [width], named: new Map() }, access) ?? null;
};

const defaulted: FilterFunction = (value, args) => {
  const [standard = "", boolean = false] = bind("default", args, ["default_value", "boolean"]);
  return value instanceof Undefined || (isTrue(boolean) && !isTrue(value)) ? standard : value;
};

const length: FilterFunction = (value, args) => {
  bind("length", args, []);
  const size = sizeOf(value);
  if (size === undefined) throw new JinjaError(`object of type '${typeOf(value)}' has no len()`);
  return BigInt(size);
};

const escapeHtml: FilterFunction = (value, args) => {
  bind("escape", args, []);
  if (value instanceof Markup) return value;
  return new Markup(escapedHtml(str(value)));
};

const float: FilterFunction = (value, args) => {
  const [standard = 0] = bind("float", args, ["default"]);
  needDefined(value);
  return floatOf(value) ?? standard;
};

function floatOf(value: Value): number | undefined {
  const number = numeric(value);
  if (number !== undefined) return Number(number);
  return typeof value === "string" ? parseFloat64(value) : undefined;
}

const int: FilterFunction = (value, args) => {
  const [standard = 0n, base] = bind("int", args, ["default", "base"]);
  needDefined(value);
  const number = numeric(value);
  if (typeof number === "bigint") return number;
  const read = typeof value === "string" ? parseInt10(value, intOf(base, "int", 10)) : undefined;
  if (read !== undefined) return read;
  const real = floatOf(value);
  if (typeof value === "number" && real !== undefined && !Number.isFinite(real) && !Number.isNaN(real))
    throw new JinjaError("cannot convert float infinity to integer");
  return real === undefined || !Number.isFinite(real) ? standard : truncated(real);
};

const indent: FilterFunction = (value, args, { budget }) => {
  const [width = 4n, first = false, blank = false] = bind("indent", args, ["width", "first", "blank"]);
  needDefined(value);
  if (typeof value !== "string") throw new JinjaError(`indent of a ${typeOf(value)}`);
  const size = typeof width === "string" ? width.length : Math.max(0, intOf(width, "indent"));
  budget.reserve(size);
  const indention = typeof width === "string" ? width : " ".repeat(size);
  const lines = splitLines(`${value}\n`);
  const rest = lines.slice(1).map((line) => (line !== "" || isTrue(blank) ? indention + line : line));
  const text = joined([lines[0] ?? "", ...rest], "\n", budget);
  return isTrue(first) ? indention + text : text;
};

const items: FilterFunction = (value, args) => {
  bind("items", args, []);
  if (value instanceof Undefined) return new Lazy([].values());
  if (!(value instanceof Dict)) return new Lazy(failing("can only get item pairs from a mapping"));
  return new Lazy(
    value
      .entries()
      .map((entry) => new Tuple(entry))
      .values(),
  );
};

// biome-ignore lint/correctness/useYield: it fails when it is first read, as in Python
function* failing(reason: string): Generator<Value> {
  throw new JinjaError(reason);
}

const join: FilterFunction = (value, args, run) => {
  const [between = "", attribute] = bind("join", args, ["d", "attribute"]);
  const read = run.attributeReader(attribute ?? null);
  return joined(
    listOf(value).map((item) => str(read(item))),
    str(between),
    run.budget,
  );
};

const replace: FilterFunction = (value, args, { budget }) => {
  const [old = null, fresh = null, count = null] = bind("replace", args, ["old", "new", "count"], 2);
  const most = count === null ? -1 : intOf(count, "replace");
  return replacedWithin(budget, str(value), str(old), str(fresh), most);
};

const round: FilterFunction = (value, args) => {
  const [precision, method = "common"] = bind("round", args, ["precision", "method"]);
  needDefined(value);
  const number = numeric(value);
  const places = intOf(precision, "round", 0);
  if (method !== "common" && method !== "ceil" && method !== "floor")
    throw new JinjaError("method must be common, ceil or floor");
  if (number === undefined) throw new JinjaError(`round of a ${typeOf(value)}`);
  if (method === "common")
    return typeof number === "bigint" ? roundedInt(number, places) : roundedFloat(number, places);
  if (typeof number === "bigint" && places >= 0) return Number(number);
  const unit = 10 ** places;
  const scaled = Number(number) * unit;
  if (!Number.isFinite(scaled)) throw new JinjaError("cannot convert float infinity or NaN to integer");
  return (method === "ceil" ? Math.ceil(scaled) : Math.floor(scaled)) / unit;
};

const title: FilterFunction = (value, args) => {
  bind("title", args, []);
  const parts = str(value).split(new RegExp(`([-${space.slice(1, -1)}({[<]+)`, "u"));
  return parts.map((part) => (part === "" ? "" : titled(part))).join("");
};

function titled(part: string): string {
  const [first = "", ...rest] = characters(part);
  return first.toUpperCase() + rest.join("").toLowerCase();
}

const tojson: FilterFunction = (value, args, { budget }) => {
  const [ascii = false, level = null, separators = null, sort = false] = bind("tojson", args, [
    "ensure_ascii",
    "indent",
    "separators",
    "sort_keys",
  ]);
  const own = separators === null ? undefined : listOf(separators).map((one) => textOf(one, "tojson"));
  if (own !== undefined && own.length !== 2) throw new JinjaError("tojson() wants two separators");
  const [between = level === null ? ", " : ",", afterKey = ": "] = own ?? [];
  const width = level === null || typeof level === "string" ? 0 : Math.max(0, intOf(level, "tojson"));
  budget.reserve(width);
  return toJson(budget, value, {
    ensureAscii: isTrue(ascii),
    indent: level === null ? undefined : typeof level === "string" ? level : " ".repeat(width),
    separators: [between, afterKey],
    sortKeys: isTrue(sort),
  });
};

const truncate: FilterFunction = (value, args) => {
  const [limit, killWords = false, end = "...", leeway = null] = bind("truncate", args, [
    "length",
    "killwords",
    "end",
    "leeway",
  ]);
  const most = intOf(limit, "truncate", 255);
  const mark = textOf(end, "truncate");
  const more = leeway === null ? 5 : intOf(leeway, "truncate");
  if (most < lengthOf(mark) || more < 0)
    throw new JinjaError("truncate() wants a longer length, or a leeway of 0 at least");
  const size = sizeOf(value);
  if (size !== undefined && size <= most + more) return value;
  if (typeof value !== "string") throw new JinjaError(`truncate of a ${typeOf(value)}`);
  const kept = characters(value)
    .slice(0, most - lengthOf(mark))
    .join("");
  return (isTrue(killWords) ? kept : (splitAt(kept, " ", 1, true)[0] ?? "")) + mark;
};

const urlencode: FilterFunction = (value, args) => {
  bind("urlencode", args, []);
  const pairs = value instanceof Dict ? value.entries() : undefined;
  if (typeof value === "string" || itemsOf(value) === undefined) return quotedUrl(str(value), false);
  const list =
    pairs ??
    listOf(value).map((pair) => {
      const [key, one, ...more] = listOf(pair);
      if (key === undefined || one === undefined || more.length > 0)
        throw new JinjaError("each item must be a pair");
      return [key, one] as const;
    });
  return list.map(([key, one]) => `${quotedUrl(str(key), true)}=${quotedUrl(str(one), true)}`).join("&");
};

function quotedUrl(plain: string, forQuery: boolean): string {
  const quoted = encodeURIComponent(plain).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return forQuery ? quoted.replaceAll("%20", "+") : quoted.replaceAll("%2F", "/");
}

const text =
  (name: string, action: (text: string) => Value): FilterFunction =>
  (value, args) => {
    bind(name, args, []);
    return action(str(value));
  };

/** Jinja's filters that can be exact here. `tojson` follows transformers. */
export const filters: Readonly<Record<string, FilterFunction>> = {
  ...listFilters,
  abs: absolute,
  attr: (value, args, { access }) => {
    const [name] = bind("attr", args, ["name"], 1);
    const wanted = textOf(name, "attr");
    if (value instanceof Dict && value.has(wanted)) {
      const found = access.attribute(value, wanted);
      return found === value.get(wanted)
        ? new Undefined(`'dict object' has no attribute '${wanted}'`)
        : found;
    }
    return access.attribute(value, wanted);
  },
  capitalize: text("capitalize", capitalized),
  center,
  count: length,
  d: defaulted,
  default: defaulted,
  e: escapeHtml,
  escape: escapeHtml,
  float,
  format: (value, { positional, named }, { budget }) => {
    if (positional.length > 0 && named.size > 0)
      throw new JinjaError("can't handle positional and keyword arguments at the same time");
    const byName = new Dict();
    for (const [name, one] of named) byName.set(name, one);
    return percentFormat(budget, str(value), named.size > 0 ? byName : new Tuple(positional));
  },
  indent,
  int,
  items,
  join,
  length,
  lower: text("lower", (value) => value.toLowerCase()),
  replace,
  round,
  safe: (value, args) => {
    bind("safe", args, []);
    return new Markup(str(value));
  },
  string: text("string", (value) => value),
  title,
  tojson,
  trim: (value, args) => {
    const [removed = null] = bind("trim", args, ["chars"]);
    return stripped(str(value), removed === null ? null : textOf(removed, "trim"), "both");
  },
  truncate,
  upper: text("upper", (value) => value.toUpperCase()),
  urlencode,
  wordcount: text("wordcount", (value) => BigInt(value.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0)),
};

/** Jinja's filters that can't be exact here. */
export const missingFilters = [
  "filesizeformat",
  "forceescape",
  "pprint",
  "random",
  "striptags",
  "urlize",
  "wordwrap",
  "xmlattr",
];

/** The problem with a filter that is not in `filters`. */
export function unknownFilter(name: string): JinjaError {
  return missingFilters.includes(name)
    ? new UnsupportedJinjaError(`the filter '${name}' is not supported`)
    : new JinjaError(`no filter named '${name}'`);
}
