import { bind, intOf, textOf } from "./bind.ts";
import type { Access } from "./brace-format.ts";
import { braceFormat } from "./brace-format.ts";
import type { Budget } from "./budget.ts";
import { JinjaError } from "./errors.ts";
import { capitalized, isAll, isTitle, swapCased, titleCased } from "./letter-case.ts";
import {
  characters,
  isIdentifier,
  isSpace,
  lengthOf,
  replaced,
  splitAt,
  splitAtSpace,
  splitLines,
  stripped,
} from "./text.ts";
import { type Args, iterate, Tuple, typeOf, type Value } from "./values.ts";
import { isPrintable } from "./written.ts";

/** Context that methods need in addition to their object and arguments. */
export interface Tools extends Access {
  budget: Budget;
}

type Method = (text: string, args: Args, tools: Tools) => Value;

/** A method without arguments. */
const plain =
  (name: string, action: (text: string) => Value): Method =>
  (text, args) => {
    bind(name, args, []);
    return action(text);
  };

/** Whether a text is not empty and all its characters match. */
const everyCharacter = (name: string, one: RegExp) =>
  plain(name, (text) => text !== "" && characters(text).every((character) => one.test(character)));

function strip(name: string, sides: "both" | "left" | "right"): Method {
  return (text, args) => {
    const [removed = null] = bind(name, args, ["chars"], 0, false);
    return stripped(text, removed === null ? null : textOf(removed, name), sides);
  };
}

function split(name: string, fromRight: boolean): Method {
  return (text, args, { budget }) => {
    const [separator = null, most] = bind(name, args, ["sep", "maxsplit"]);
    const limit = intOf(most, name, -1);
    if (separator === null) return budget.list(splitAtSpace(text, limit, fromRight));
    const between = textOf(separator, name);
    if (between === "") throw new JinjaError("empty separator");
    return budget.list(splitAt(text, between, limit, fromRight));
  };
}

/** The part of a text between the arguments `start` and `end`, and its offset. */
function part(text: string, start: Value | undefined, end: Value | undefined, called: string) {
  const all = characters(text);
  const place = (value: Value | undefined, standard: number) => {
    const index = value === undefined || value === null ? standard : intOf(value, called);
    return index < 0 ? Math.max(0, index + all.length) : index;
  };
  const [from, to] = [place(start, 0), Math.min(place(end, all.length), all.length)];
  return from > to ? undefined : { text: all.slice(from, to).join(""), from };
}

function find(name: string, last: boolean, must: boolean): Method {
  return (text, args) => {
    const [wanted, start, end] = bind(name, args, ["sub", "start", "end"], 1, false);
    const sought = textOf(wanted, name);
    const within = part(text, start, end, name);
    const at =
      within === undefined ? -1 : last ? within.text.lastIndexOf(sought) : within.text.indexOf(sought);
    if (within !== undefined && at >= 0) return BigInt(within.from + lengthOf(within.text.slice(0, at)));
    if (must) throw new JinjaError("substring not found");
    return -1n;
  };
}

function edge(name: string, test: (text: string, edge: string) => boolean): Method {
  return (text, args) => {
    const [wanted = null, start, end] = bind(name, args, ["prefix", "start", "end"], 1, false);
    const edges = wanted instanceof Tuple ? wanted.items : [wanted];
    const within = part(text, start, end, name);
    return edges.some((one) => {
      const known = textOf(one, name);
      return within !== undefined && test(within.text, known);
    });
  };
}

function pad(name: string, place: (missing: number, width: number) => number): Method {
  return (text, args, { budget }) => {
    const [width, fill = " "] = bind(name, args, ["width", "fillchar"], 1, false);
    const filler = textOf(fill, name);
    if (lengthOf(filler) !== 1) throw new JinjaError("the fill character must be exactly one character long");
    const wanted = intOf(width, name);
    const missing = Math.max(0, wanted - lengthOf(text));
    budget.reserve(missing);
    const before = place(missing, wanted);
    return filler.repeat(before) + text + filler.repeat(missing - before);
  };
}

function partition(name: string, last: boolean): Method {
  return (text, args) => {
    const [separator] = bind(name, args, ["sep"], 1, false);
    const between = textOf(separator, name);
    if (between === "") throw new JinjaError("empty separator");
    const at = last ? text.lastIndexOf(between) : text.indexOf(between);
    if (at < 0) return new Tuple(last ? ["", "", text] : [text, "", ""]);
    return new Tuple([text.slice(0, at), between, text.slice(at + between.length)]);
  };
}

/** Python's text methods that can be exact here. */
export const stringMethods: Readonly<Record<string, Method>> = {
  capitalize: plain("capitalize", capitalized),
  center: pad("center", (missing, width) => Math.floor(missing / 2) + (missing & width & 1)),
  count: (text, args) => {
    const [wanted, start, end] = bind("count", args, ["sub", "start", "end"], 1, false);
    const sought = textOf(wanted, "count");
    const within = part(text, start, end, "count");
    if (within === undefined) return 0n;
    return BigInt(sought === "" ? lengthOf(within.text) + 1 : within.text.split(sought).length - 1);
  },
  endswith: edge("endswith", (text, end) => text.endsWith(end)),
  expandtabs: (text, args, { budget }) => {
    const [size] = bind("expandtabs", args, ["tabsize"]);
    const width = intOf(size, "expandtabs", 8);
    let column = 0;
    const parts = characters(text).map((character) => {
      if (character === "\t") {
        const spaces = width > 0 ? width - (column % width) : 0;
        budget.reserve(spaces);
        column += spaces;
        return " ".repeat(spaces);
      }
      column = character === "\n" || character === "\r" ? 0 : column + 1;
      return character;
    });
    return parts.join("");
  },
  find: find("find", false, false),
  format: (text, args, tools) => tools.budget.text(braceFormat(text, args, tools)),
  index: find("index", false, true),
  isalnum: everyCharacter("isalnum", /[\p{L}\p{Nd}\p{Nl}\p{No}]/u),
  isalpha: everyCharacter("isalpha", /\p{L}/u),
  isascii: plain("isascii", (text) => !/[^\0-\x7f]/.test(text)),
  isdecimal: everyCharacter("isdecimal", /\p{Nd}/u),
  isdigit: everyCharacter("isdigit", /[\p{Nd}²³¹⁰⁴-⁹₀-₉፩-፱᧚①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒𐩀-𐩃𐹠-𐹨𑁒-𑁚🄀-🄊]/u),
  isidentifier: plain("isidentifier", isIdentifier),
  islower: plain("islower", (text) => isAll(text, "lower")),
  isprintable: plain("isprintable", isPrintable),
  isspace: plain("isspace", isSpace),
  istitle: plain("istitle", isTitle),
  isupper: plain("isupper", (text) => isAll(text, "upper")),
  join: (text, args, { budget }) => {
    const [values = null] = bind("join", args, ["iterable"], 1, false);
    const parts: string[] = [];
    const items = iterate(values);
    for (let next = items.next(); next.done !== true; next = items.next()) {
      if (typeof next.value !== "string")
        throw new JinjaError(`sequence item: expected str instance, ${typeOf(next.value)} found`);
      budget.step();
      parts.push(next.value);
    }
    return joined(parts, text, budget);
  },
  ljust: pad("ljust", () => 0),
  lower: plain("lower", (text) => text.toLowerCase()),
  lstrip: strip("lstrip", "left"),
  partition: partition("partition", false),
  removeprefix: (text, args) => {
    const [prefix] = bind("removeprefix", args, ["prefix"], 1, false);
    const known = textOf(prefix, "removeprefix");
    return text.startsWith(known) ? text.slice(known.length) : text;
  },
  removesuffix: (text, args) => {
    const [suffix] = bind("removesuffix", args, ["suffix"], 1, false);
    const known = textOf(suffix, "removesuffix");
    return known !== "" && text.endsWith(known) ? text.slice(0, -known.length) : text;
  },
  replace: (text, args, { budget }) => {
    const [old, fresh, count] = bind("replace", args, ["old", "new", "count"], 2, false);
    return replacedWithin(
      budget,
      text,
      textOf(old, "replace"),
      textOf(fresh, "replace"),
      intOf(count, "replace", -1),
    );
  },
  rfind: find("rfind", true, false),
  rindex: find("rindex", true, true),
  rjust: pad("rjust", (missing) => missing),
  rpartition: partition("rpartition", true),
  rsplit: split("rsplit", true),
  rstrip: strip("rstrip", "right"),
  split: split("split", false),
  splitlines: (text, args) => {
    const [keep] = bind("splitlines", args, ["keepends"]);
    return splitLines(text, intOf(keep, "splitlines", 0) !== 0);
  },
  startswith: edge("startswith", (text, start) => text.startsWith(start)),
  strip: strip("strip", "both"),
  swapcase: plain("swapcase", swapCased),
  title: plain("title", titleCased),
  upper: plain("upper", (text) => text.toUpperCase()),
  zfill: (text, args, { budget }) => {
    const [width] = bind("zfill", args, ["width"], 1, false);
    const missing = Math.max(0, intOf(width, "zfill") - lengthOf(text));
    budget.reserve(missing);
    const sign = /^[-+]/.test(text) ? text.charAt(0) : "";
    return sign + "0".repeat(missing) + text.slice(sign.length);
  },
};

/** Text methods that exist in Python but not here. */
export const missingStringMethods = [
  "casefold",
  "encode",
  "format_map",
  "isnumeric",
  "maketrans",
  "translate",
];

/** Replaces texts, and counts the result's length in advance. */
export function replacedWithin(
  budget: Budget,
  text: string,
  old: string,
  fresh: string,
  count: number,
): string {
  budget.reserve(text.length);
  if (fresh.length > 1) {
    const found = old === "" ? text.length + 1 : text.split(old).length - 1;
    budget.reserve((count < 0 ? found : Math.min(found, count)) * fresh.length);
  }
  return replaced(text, old, fresh, count);
}

/** Joins texts, and counts the result's length in advance. */
export function joined(parts: readonly string[], separator: string, budget: Budget): string {
  let size = separator.length * parts.length;
  for (const one of parts) size += one.length;
  budget.reserve(size);
  return parts.join(separator);
}
