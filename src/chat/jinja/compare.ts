import { spend } from "./budget.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { compareTexts } from "./text.ts";
import {
  Dict,
  DictView,
  itemsOf,
  Markup,
  needDefined,
  Range,
  storedItems,
  Tuple,
  typeOf,
  Undefined,
  type Value,
} from "./values.ts";

/** A number as an int or a float, including True and False; undefined for other values. */
export function numeric(value: Value): bigint | number | undefined {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return typeof value === "bigint" || typeof value === "number" ? value : undefined;
}

/** Whether two values are equal by Python's `==`. */
export function areEqual(one: Value, other: Value): boolean {
  spend(typeof one === "string" ? 1 + one.length / 64 : 1);
  if (one === other) return !Number.isNaN(one);
  if (one instanceof Markup || other instanceof Markup)
    throw new UnsupportedJinjaError("comparing a text that is marked as safe is not supported");
  const [left, right] = [numeric(one), numeric(other)];
  // biome-ignore lint/suspicious/noDoubleEquals: an int and a float may be equal
  if (left !== undefined && right !== undefined) return left == right;
  if (Array.isArray(one)) return Array.isArray(other) && allEqual(one, other);
  if (one instanceof Tuple) return other instanceof Tuple && allEqual(one.items, other.items);
  if (one instanceof Range) return other instanceof Range && allEqual(one.items(), other.items());
  if (one instanceof Undefined) return other instanceof Undefined;
  if (one instanceof Dict && other instanceof Dict) {
    if (one.size !== other.size) return false;
    return one.entries().every(([key, value]) => {
      const against = other.get(key);
      return against !== undefined && areEqual(value, against);
    });
  }
  if (
    one instanceof DictView &&
    other instanceof DictView &&
    one.type === other.type &&
    one.type !== "dict_values"
  ) {
    const others = other.items();
    return others.length === one.items().length && one.items().every((item) => includes(others, item));
  }
  return false;
}

function allEqual(one: readonly Value[], other: readonly Value[]): boolean {
  return one.length === other.length && one.every((item, at) => isSameOrEqual(item, other[at] ?? null));
}

/** Inside collections, Python considers a value equal to itself, even NaN. */
const isSameOrEqual = (one: Value, other: Value) => Object.is(one, other) || areEqual(one, other);

const includes = (items: readonly Value[], wanted: Value) =>
  items.some((item) => isSameOrEqual(item, wanted));

/** Whether `one < other`. Throws JinjaError if Python can't order them. */
export function isLess(one: Value, other: Value): boolean {
  return ordered(one, other, "<");
}

/** Python's <, <=, > and >=. Throws JinjaError for values without an order. */
export function ordered(one: Value, other: Value, operator: "<" | "<=" | ">" | ">="): boolean {
  spend(1);
  needDefined(one);
  needDefined(other);
  const [left, right] = [numeric(one), numeric(other)];
  if (left !== undefined && right !== undefined) {
    if (operator === "<") return left < right;
    if (operator === "<=") return left <= right;
    return operator === ">" ? left > right : left >= right;
  }
  if (typeof one === "string" && typeof other === "string")
    return byDifference(compareTexts(one, other), operator);
  const lists = [one, other].map((value) =>
    Array.isArray(value) || value instanceof Tuple ? storedItems(value) : undefined,
  );
  const [items, others] = lists;
  if (items && others && Array.isArray(one) === Array.isArray(other)) {
    for (const [at, item] of items.entries()) {
      if (at >= others.length) break;
      const against = others[at] ?? null;
      if (!isSameOrEqual(item, against)) return ordered(item, against, operator);
    }
    return byDifference(items.length - others.length, operator);
  }
  throw new JinjaError(
    `'${operator}' not supported between instances of '${typeOf(one)}' and '${typeOf(other)}'`,
  );
}

function byDifference(difference: number, operator: "<" | "<=" | ">" | ">="): boolean {
  if (difference === 0) return operator === "<=" || operator === ">=";
  return difference < 0 === operator.startsWith("<");
}

/** Python's `in`. Throws JinjaError if `container` is not a container. */
export function contains(container: Value, wanted: Value): boolean {
  if (typeof container === "string") {
    spend(container.length / 64);
    if (typeof wanted === "string") return container.includes(wanted);
    throw new JinjaError(`'in <string>' requires string as left operand, not ${typeOf(wanted)}`);
  }
  if (container instanceof Dict) return container.has(wanted);
  if (container instanceof DictView && container.type === "dict_keys") return container.dict.has(wanted);
  const items = itemsOf(container);
  if (items === undefined) throw new JinjaError(`argument of type '${typeOf(container)}' is not iterable`);
  for (let next = items.next(); next.done !== true; next = items.next())
    if (isSameOrEqual(next.value, wanted)) return true;
  return false;
}

/** Sorts values by their keys. Equal ones keep their order, even reversed. Throws JinjaError. */
export function sortedBy(
  values: readonly Value[],
  keyOf: (value: Value) => Value,
  reverse: boolean,
): Value[] {
  const keyed = values.map((value) => ({ value, key: keyOf(value) }));
  const [before, after] = reverse ? [1, -1] : [-1, 1];
  keyed.sort((one, other) => {
    if (isLess(one.key, other.key)) return before;
    return isLess(other.key, one.key) ? after : 0;
  });
  return keyed.map(({ value }) => value);
}
