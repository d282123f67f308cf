import { arithmetic } from "./arithmetic.ts";
import { bind, intOf, textOf } from "./bind.ts";
import { areEqual, isLess, sortedBy } from "./compare.ts";
import { JinjaError } from "./errors.ts";
import type { FilterFunction, Run } from "./run.ts";
import { characters } from "./text.ts";
import {
  type Args,
  Dict,
  hashed,
  isTrue,
  iterate,
  Lazy,
  listOf,
  needDefined,
  orElse,
  storedItems,
  Tuple,
  typeOf,
  Undefined,
  type Value,
} from "./values.ts";

const lowered = (value: Value) => (typeof value === "string" ? value.toLowerCase() : value);

/** Returns a reader of the key for sorting and comparing: an attribute, in lower case unless case matters. */
function keyReader(run: Run, attribute: Value, caseSensitive: Value): (value: Value) => Value {
  const read = run.attributeReader(attribute);
  return isTrue(caseSensitive) ? read : (value) => lowered(read(value));
}

/** Reads several attributes, separated by commas, as a list. */
function keysReader(run: Run, attribute: Value, caseSensitive: Value): (value: Value) => Value {
  const paths = typeof attribute === "string" ? attribute.split(",") : [attribute];
  const readers = paths.map((path) => keyReader(run, path, caseSensitive));
  return (value) => readers.map((read) => read(value));
}

/** Runs a Python generator and counts its steps. */
function lazily(run: Run, values: Iterable<Value>): Lazy {
  return new Lazy(counted(run, values));
}

function* counted({ budget }: Run, values: Iterable<Value>): Generator<Value> {
  for (const value of values) {
    budget.step();
    yield value;
  }
}

function each(values: Value): Iterable<Value> {
  return { [Symbol.iterator]: () => iterate(values) };
}

const dictsort: FilterFunction = (value, args) => {
  const [caseSensitive = false, by = "key", reverse = false] = bind("dictsort", args, [
    "case_sensitive",
    "by",
    "reverse",
  ]);
  needDefined(value);
  if (by !== "key" && by !== "value") throw new JinjaError('you can only sort by either "key" or "value"');
  if (!(value instanceof Dict)) throw new JinjaError(`'${typeOf(value)}' object has no attribute 'items'`);
  const place = by === "key" ? 0 : 1;
  const key = (entry: Value) => {
    const own = entry instanceof Tuple ? (entry.items[place] ?? null) : entry;
    return isTrue(caseSensitive) ? own : lowered(own);
  };
  return sortedBy(
    value.entries().map((entry) => new Tuple(entry)),
    key,
    isTrue(reverse),
  );
};

const sort: FilterFunction = (value, args, run) => {
  const [reverse = false, caseSensitive = false, attribute = null] = bind("sort", args, [
    "reverse",
    "case_sensitive",
    "attribute",
  ]);
  run.budget.step();
  return sortedBy(run.budget.list(listOf(value)), keysReader(run, attribute, caseSensitive), isTrue(reverse));
};

const unique: FilterFunction = (value, args, run) => {
  const [caseSensitive = false, attribute = null] = bind("unique", args, ["case_sensitive", "attribute"]);
  const read = keyReader(run, attribute, caseSensitive);
  return lazily(run, distinct(value, read));
};

function* distinct(values: Value, read: (value: Value) => Value): Generator<Value> {
  const seen = new Set<string>();
  for (const value of each(values)) {
    const hash = hashed(read(value));
    if (seen.has(hash)) continue;
    seen.add(hash);
    yield value;
  }
}

function extreme(name: string, isBetter: (one: Value, best: Value) => boolean): FilterFunction {
  return (value, args, run) => {
    const [caseSensitive = false, attribute = null] = bind(name, args, ["case_sensitive", "attribute"]);
    const [first, ...rest] = listOf(value);
    if (first === undefined) return new Undefined("No aggregated item, sequence was empty.");
    const read = keyReader(run, attribute, caseSensitive);
    let best = { value: first, key: read(first) };
    for (const one of rest) {
      const key = read(one);
      if (isBetter(key, best.key)) best = { value: one, key };
    }
    return best.value;
  };
}

const first: FilterFunction = (value, args) => {
  bind("first", args, []);
  const next = iterate(value).next();
  return next.done === true ? new Undefined("No first item, sequence was empty.") : next.value;
};

const last: FilterFunction = (value, args) => {
  bind("last", args, []);
  return orElse(reversible(value).at(-1), () => new Undefined("No last item, sequence was empty."));
};

/** The items of a value that Python's `reversed` accepts. */
function reversible(value: Value): readonly Value[] {
  const items = value instanceof Lazy ? undefined : storedItems(value);
  if (items === undefined) throw new JinjaError(`'${typeOf(value)}' object is not reversible`);
  return items;
}

const reverse: FilterFunction = (value, args) => {
  bind("reverse", args, []);
  if (typeof value === "string") return characters(value).reverse().join("");
  if (value instanceof Lazy) return listOf(value).reverse();
  return new Lazy([...reversible(value)].reverse().values());
};

const map: FilterFunction = (value, args, run) => {
  if (!isTrue(value)) return new Lazy([].values());
  return lazily(run, mapped(value, args, run));
};

function* mapped(values: Value, args: Args, run: Run): Generator<Value> {
  const change = mapper(args, run);
  for (const value of each(values)) yield change(value);
}

function mapper({ positional, named }: Args, run: Run): (value: Value) => Value {
  const attribute = named.get("attribute");
  if (positional.length === 0 && attribute !== undefined) {
    for (const name of named.keys())
      if (name !== "attribute" && name !== "default")
        throw new JinjaError(`unexpected keyword argument '${name}'`);
    return run.attributeReader(attribute, named.get("default"));
  }
  const [filter, ...rest] = positional;
  if (filter === undefined) throw new JinjaError("map requires a filter argument");
  const name = textOf(filter, "map");
  return (value) => run.filter(name, value, { positional: rest, named });
}

function selecting(keep: boolean, byAttribute: boolean): FilterFunction {
  return (value, args, run) => {
    if (!isTrue(value)) return new Lazy([].values());
    return lazily(run, selected(value, args, run, keep, byAttribute));
  };
}

function* selected(
  values: Value,
  { positional, named }: Args,
  run: Run,
  keep: boolean,
  byAttribute: boolean,
): Generator<Value> {
  const [attribute] = positional;
  if (byAttribute && attribute === undefined) throw new JinjaError("missing parameter for attribute name");
  const read = byAttribute ? run.attributeReader(attribute ?? null) : (value: Value) => value;
  const [test, ...rest] = positional.slice(byAttribute ? 1 : 0);
  const passes = (value: Value) =>
    test === undefined ? isTrue(value) : run.test(textOf(test, "select"), value, { positional: rest, named });
  for (const value of each(values)) if (passes(read(value)) === keep) yield value;
}

const groupby: FilterFunction = (value, args, run) => {
  const [attribute = null, standard = null, caseSensitive = false] = bind(
    "groupby",
    args,
    ["attribute", "default", "case_sensitive"],
    1,
  );
  const read = run.attributeReader(attribute, standard ?? undefined);
  const key = (one: Value) => (isTrue(caseSensitive) ? read(one) : lowered(read(one)));
  const groups: { key: Value; values: Value[] }[] = [];
  for (const one of sortedBy(listOf(value), key, false)) {
    const own = key(one);
    const group = groups.at(-1);
    if (group !== undefined && areEqual(group.key, own)) group.values.push(one);
    else groups.push({ key: own, values: [one] });
  }
  return groups.map(
    ({ key: own, values }) => new Group([isTrue(caseSensitive) ? own : read(values[0] ?? null), values]),
  );
};

/** A pair from `groupby`: a tuple with named parts. */
class Group extends Tuple {
  override attribute(name: string): Value | undefined {
    if (name === "grouper") return this.items[0];
    return name === "list" ? this.items[1] : undefined;
  }
}

const sum: FilterFunction = (value, args, run) => {
  const [attribute = null, start = 0n] = bind("sum", args, ["attribute", "start"]);
  const read = run.attributeReader(attribute);
  if (typeof start === "string") throw new JinjaError("sum() can't sum strings");
  let total: Value = start;
  for (const one of each(value)) {
    run.budget.step();
    total = arithmetic(run.budget, "+", total, read(one));
  }
  return total;
};

const batch: FilterFunction = (value, args, run) => {
  const [count, fill = null] = bind("batch", args, ["linecount", "fill_with"], 1);
  return lazily(run, batches(value, intOf(count, "batch"), fill, run));
};

function* batches(values: Value, size: number, fill: Value, { budget }: Run): Generator<Value> {
  let line: Value[] = [];
  for (const value of each(values)) {
    if (line.length === size) {
      yield line;
      line = [];
    }
    line.push(value);
  }
  if (line.length === 0) return;
  if (fill !== null) {
    budget.reserve(Math.max(0, size - line.length));
    while (line.length < size) line.push(fill);
  }
  yield line;
}

const slice: FilterFunction = (value, args, run) => {
  const [count, fill = null] = bind("slice", args, ["slices", "fill_with"], 1);
  return lazily(run, slices(value, intOf(count, "slice"), fill));
};

function* slices(values: Value, count: number, fill: Value): Generator<Value> {
  const all = listOf(values);
  if (count === 0) throw new JinjaError("integer division or modulo by zero");
  const [size, extra] = [Math.floor(all.length / count), all.length % count];
  let start = 0;
  for (let at = 0; at < count; at++) {
    const end = start + size + (at < extra ? 1 : 0);
    const items = all.slice(start, end);
    if (fill !== null && at >= extra) items.push(fill);
    yield items;
    start = end;
  }
}

/** Jinja's filters for lists and dicts. */
export const listFilters: Readonly<Record<string, FilterFunction>> = {
  batch,
  dictsort,
  first,
  groupby,
  last,
  list: (value, args, { budget }) => {
    bind("list", args, []);
    return budget.list(listOf(value));
  },
  map,
  max: extreme("max", (one, best) => isLess(best, one)),
  min: extreme("min", isLess),
  reject: selecting(false, false),
  rejectattr: selecting(false, true),
  reverse,
  select: selecting(true, false),
  selectattr: selecting(true, true),
  slice,
  sort,
  sum,
  unique,
};
