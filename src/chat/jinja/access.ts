import { bind, intOf } from "./bind.ts";
import type { Budget } from "./budget.ts";
import { areEqual } from "./compare.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { missingStringMethods, stringMethods, type Tools } from "./string-methods.ts";
import { characters } from "./text.ts";
import {
  type Args,
  Dict,
  DictView,
  Invocable,
  listOf,
  Markup,
  needDefined,
  orElse,
  Range,
  Thing,
  Tuple,
  typeOf,
  Undefined,
  type Value,
} from "./values.ts";
import { repr } from "./written.ts";

type Method<Self> = (self: Self, args: Args) => Value;

const listMethods: Readonly<Record<string, Method<Value[]>>> = {
  ...sequenceMethods((list: Value[]) => list),
  copy: (list) => [...list],
  // Python's sandbox refuses the next two, but published templates that other servers render use them.
  append: (list, args) => {
    const [value = null] = bind("append", args, ["object"], 1, false);
    list.push(value);
    return null;
  },
  pop: (list, args) => {
    const [index] = bind("pop", args, ["index"], 0, false);
    const at = intOf(index, "pop", -1);
    const [value] = list.splice(at < 0 ? at + list.length : at, 1);
    if (value === undefined) throw new JinjaError("pop index out of range");
    return value;
  },
};

const dictMethods: Readonly<Record<string, Method<Dict>>> = {
  get: (dict, args) => {
    const [key = null, standard = null] = bind("get", args, ["key", "default"], 1, false);
    return orElse(dict.get(key), () => standard);
  },
  items: (dict, args) => view("dict_items", dict, args),
  keys: (dict, args) => view("dict_keys", dict, args),
  values: (dict, args) => view("dict_values", dict, args),
  copy: (dict) => {
    const copy = new Dict();
    for (const [key, value] of dict.entries()) copy.set(key, value);
    return copy;
  },
  pop: (dict, args) => {
    const [key = null, standard] = bind("pop", args, ["key", "default"], 1, false);
    if (standard === undefined && !dict.has(key)) throw new JinjaError(`there is no ${repr(key)}`);
    const value = orElse(dict.get(key), () => orElse(standard, () => null));
    dict.delete(key);
    return value;
  },
};

const tupleMethods: Readonly<Record<string, Method<Tuple>>> = sequenceMethods((tuple: Tuple) => tuple.items);
const rangeMethods: Readonly<Record<string, Method<Range>>> = sequenceMethods((range: Range) =>
  range.items(),
);

/** Attributes by type that exist in Python but not here. */
const missing: Readonly<Record<string, readonly string[]>> = {
  str: missingStringMethods,
  int: [
    "as_integer_ratio",
    "bit_count",
    "bit_length",
    "conjugate",
    "denominator",
    "from_bytes",
    "imag",
    "numerator",
    "real",
    "to_bytes",
  ],
  float: ["as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "is_integer", "real"],
  dict: ["fromkeys"],
  generator: ["close", "send", "throw", "gi_running", "gi_suspended", "gi_yieldfrom"],
  dict_keys: ["isdisjoint", "mapping"],
  dict_items: ["isdisjoint", "mapping"],
  dict_values: ["mapping"],
};

function sequenceMethods<Self>(items: (self: Self) => readonly Value[]): Record<string, Method<Self>> {
  return {
    count: (self, args) => {
      const [wanted = null] = bind("count", args, ["value"], 1, false);
      return BigInt(items(self).filter((item) => areEqual(item, wanted)).length);
    },
    index: (self, args) => {
      const [wanted = null, start, stop] = bind("index", args, ["value", "start", "stop"], 1, false);
      const all = items(self);
      const [from, to] = bounds(all.length, start, stop);
      const at = all.findIndex((item, place) => place >= from && place < to && areEqual(item, wanted));
      if (at < 0) throw new JinjaError(`${repr(wanted)} is not in list`);
      return BigInt(at);
    },
  };
}

function bounds(length: number, start: Value | undefined, stop: Value | undefined): [number, number] {
  const place = (value: Value | undefined, standard: number) => {
    const index = intOf(value, "index", standard);
    return index < 0 ? Math.max(0, index + length) : index;
  };
  return [place(start, 0), place(stop, length)];
}

function view(type: DictView["type"], dict: Dict, args: Args): DictView {
  bind(type, args, []);
  return new DictView(type, dict);
}

/**
 * Reads attributes and items like Jinja: `object.name` prefers attributes, `object[key]` items. A missing one is
 * undefined.
 */
export function accessFor(budget: Budget): Tools {
  const tools: Tools = {
    budget,
    attribute: (object, name) => {
      needPlain(object);
      const found = attributeOf(object, name, tools);
      return orElse(found, () => orElse(itemOf(object, name), () => absent(object, name)));
    },
    item: (object, key) => {
      needPlain(object);
      return orElse(itemOf(object, key), () =>
        orElse(typeof key === "string" ? attributeOf(object, key, tools) : undefined, () =>
          absent(object, key),
        ),
      );
    },
  };
  return tools;
}

function needPlain(object: Value): void {
  needDefined(object);
  if (object instanceof Markup)
    throw new UnsupportedJinjaError("methods and items of a text that is marked as safe are not supported");
}

function absent(object: Value, key: Value): Undefined {
  return new Undefined(
    `'${typeOf(object)} object' has no ${typeof key === "string" ? "attribute" : "element"} ${repr(key)}`,
  );
}

function attributeOf(object: Value, name: string, tools: Tools): Value | undefined {
  if (name.startsWith("_")) return undefined;
  const method = methodOf(object, name, tools);
  if (method !== undefined) return new Invocable(method);
  if (object instanceof Thing) {
    const found = object.attribute(name);
    if (found !== undefined) return found;
  }
  const type = typeof object === "boolean" ? "int" : typeOf(object);
  if (missing[type]?.includes(name))
    throw new UnsupportedJinjaError(`'${name}' of a ${type} is not supported`);
  return undefined;
}

function methodOf(object: Value, name: string, tools: Tools): ((args: Args) => Value) | undefined {
  if (typeof object === "string") {
    const method = own(stringMethods, name);
    if (method === undefined) return undefined;
    return (args) => {
      tools.budget.step(object.length / 16);
      return method(object, args, tools);
    };
  }
  if (Array.isArray(object)) return bound(listMethods, name, object);
  if (object instanceof Dict) return bound(dictMethods, name, object);
  if (object instanceof Range) return bound(rangeMethods, name, object);
  return object instanceof Tuple ? bound(tupleMethods, name, object) : undefined;
}

function bound<Self>(methods: Readonly<Record<string, Method<Self>>>, name: string, self: Self) {
  const method = own(methods, name);
  return method && ((args: Args) => method(self, args));
}

function own<Entry>(table: Readonly<Record<string, Entry>>, name: string): Entry | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function itemOf(object: Value, key: Value): Value | undefined {
  if (object instanceof Dict) return Array.isArray(key) || key instanceof Dict ? undefined : object.get(key);
  if (typeof key !== "bigint" && typeof key !== "boolean") return undefined;
  const items = sequenceOf(object);
  if (items === undefined) return undefined;
  const at = Number(key);
  return items[at < 0 ? at + items.length : at];
}

/** An array of a value that can be indexed and sliced. */
function sequenceOf(value: Value): readonly Value[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return characters(value);
  if (value instanceof Tuple) return value.items;
  return value instanceof Range ? value.items() : undefined;
}

/** Python's `object[start:stop:step]`; undefined for a value that can't be sliced. Throws JinjaError. */
export function sliced(
  object: Value,
  [start, stop, step]: readonly (Value | undefined)[],
): Value | undefined {
  needDefined(object);
  const items = sequenceOf(object);
  if (items === undefined) return undefined;
  const number = (value: Value | undefined) =>
    value === undefined || value === null ? undefined : intOf(value, "slice");
  const stride = number(step) ?? 1;
  if (stride === 0) throw new JinjaError("slice step cannot be zero");
  const { length } = items;
  const place = (index: number | undefined, standard: number) => {
    if (index === undefined) return standard;
    const at = index < 0 ? index + length : index;
    return stride > 0 ? Math.min(Math.max(at, 0), length) : Math.min(Math.max(at, -1), length - 1);
  };
  const from = place(number(start), stride > 0 ? 0 : length - 1);
  const to = place(number(stop), stride > 0 ? length : -1);
  const picked: Value[] = [];
  for (let at = from; stride > 0 ? at < to : at > to; at += stride) picked.push(items[at] ?? null);
  if (typeof object === "string") return picked.join("");
  if (object instanceof Tuple) return new Tuple(picked);
  if (object instanceof Range) return slicedRange(object, from, to, stride);
  return listOf(picked);
}

function slicedRange({ start, step }: Range, from: number, to: number, stride: number): Range {
  return new Range(start + BigInt(from) * step, start + BigInt(to) * step, step * BigInt(stride));
}
