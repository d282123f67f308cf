import { spend } from "./budget.ts";
import { JinjaError } from "./errors.ts";
import { characters, lengthOf } from "./text.ts";

/** A value of a template: null represents None, a bigint an int, a number a float, and an array a list. */
export type Value = null | boolean | bigint | number | string | Value[] | Thing;

/** Arguments of a call. */
export interface Args {
  positional: Value[];
  named: Map<string, Value>;
}

/** A value that has no type in JavaScript. */
export abstract class Thing {
  /** The type's name in Python. */
  abstract readonly type: string;
  /** Python's text for it; undefined if that contains an address. */
  printed(): string | undefined {
    return undefined;
  }
  /** An attribute by its name; undefined if there is none. */
  attribute(_name: string): Value | undefined {
    return undefined;
  }
}

/** The value of a name that was never set. It prints as "", and most other uses throw its message. */
export class Undefined extends Thing {
  readonly type = "Undefined";
  readonly message: string;
  constructor(message: string) {
    super();
    this.message = message;
  }
  override printed() {
    return "Undefined";
  }
}

/** A text that is marked as escaped. It can be printed. Operations that would escape other texts are refused. */
export class Markup extends Thing {
  readonly type = "Markup";
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
}

export class Tuple extends Thing {
  readonly type = "tuple";
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
}

/** A dict. Equal keys, such as 1, 1.0 and True, are the same. */
export class Dict extends Thing {
  readonly type = "dict";
  readonly #entries = new Map<string, [Value, Value]>();
  get size() {
    return this.#entries.size;
  }
  get(key: Value): Value | undefined {
    return this.#entries.get(hashed(key))?.[1];
  }
  has(key: Value): boolean {
    return this.#entries.has(hashed(key));
  }
  set(key: Value, value: Value): this {
    const hash = hashed(key);
    const known = this.#entries.get(hash);
    if (known) known[1] = value;
    else this.#entries.set(hash, [key, value]);
    return this;
  }
  delete(key: Value): void {
    this.#entries.delete(hashed(key));
  }
  entries(): [Value, Value][] {
    spend(this.size / 16);
    return [...this.#entries.values()];
  }
  keys(): Value[] {
    return this.entries().map(([key]) => key);
  }
}

/** A live view of a dict's keys, values or items. */
export class DictView extends Thing {
  readonly type: "dict_keys" | "dict_values" | "dict_items";
  readonly dict: Dict;
  constructor(type: "dict_keys" | "dict_values" | "dict_items", dict: Dict) {
    super();
    this.type = type;
    this.dict = dict;
  }
  items(): Value[] {
    spend(this.dict.size / 16);
    const entries = this.dict.entries();
    if (this.type === "dict_items") return entries.map((entry) => new Tuple(entry));
    return entries.map(([key, value]) => (this.type === "dict_keys" ? key : value));
  }
}

export class Range extends Thing {
  readonly type = "range";
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;
  constructor(start: bigint, stop: bigint, step: bigint) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
  }
  get length(): number {
    const [span, step] =
      this.step > 0n ? [this.stop - this.start, this.step] : [this.start - this.stop, -this.step];
    return span <= 0n ? 0 : Number((span + step - 1n) / step);
  }
  items(): bigint[] {
    spend(this.length / 2);
    return Array.from({ length: this.length }, (_, at) => this.start + BigInt(at) * this.step);
  }
  override attribute(name: string) {
    return name === "start" || name === "stop" || name === "step" ? this[name] : undefined;
  }
  override printed() {
    const step = this.step === 1n ? "" : `, ${this.step}`;
    return `range(${this.start}, ${this.stop}${step})`;
  }
}

/** A generator, which produces its values on demand and only once. */
export class Lazy extends Thing {
  readonly type = "generator";
  readonly values: Iterator<Value>;
  constructor(values: Iterator<Value>) {
    super();
    this.values = values;
  }
}

/** `namespace(…)`, whose members loops and macros can set. */
export class Namespace extends Thing {
  readonly type = "Namespace";
  readonly members: Map<string, Value>;
  constructor(members: Map<string, Value>) {
    super();
    this.members = members;
  }
  override attribute(name: string) {
    return this.members.get(name);
  }
}

/** A callable value: a macro, a method or a function. */
export class Invocable extends Thing {
  readonly type: string = "function";
  readonly call: (args: Args) => Value;
  readonly shown: string | undefined;
  readonly attributes: Readonly<Record<string, Value>>;
  constructor(call: (args: Args) => Value, shown?: string, attributes: Readonly<Record<string, Value>> = {}) {
    super();
    this.call = call;
    this.shown = shown;
    this.attributes = attributes;
  }
  override printed() {
    return this.shown;
  }
  override attribute(name: string) {
    return Object.hasOwn(this.attributes, name) ? this.attributes[name] : undefined;
  }
}

const unhashable = ["dict", "dict_keys", "dict_items"];
const identities = new WeakMap<Thing, number>();
let lastIdentity = 0;

/** A key that is the same for equal values. Throws JinjaError for lists and dicts. */
export function hashed(value: Value): string {
  spend(typeof value === "string" ? 1 + value.length / 64 : 1);
  if (typeof value === "string") return `s${value}`;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "n1" : "n0";
  if (typeof value === "bigint") return `n${value}`;
  if (typeof value === "number") return Number.isInteger(value) ? `n${BigInt(value)}` : `n${value}`;
  if (value instanceof Tuple) {
    const parts = value.items.map(hashed).map((part) => `${part.length} ${part}`);
    const hash = `t${parts.join("")}`;
    spend(hash.length / 16);
    return hash;
  }
  if (value instanceof Undefined) return "undefined";
  if (Array.isArray(value) || unhashable.includes(value.type))
    throw new JinjaError(`unhashable type: '${typeOf(value)}'`);
  if (value instanceof Markup) return hashed(value.text);
  if (value instanceof Range) return `range${value.items().join()}`;
  const known = identities.get(value) ?? ++lastIdentity;
  identities.set(value, known);
  return `i${known}`;
}

/** The name of a value's type in Python. */
export function typeOf(value: Value): string {
  if (value === null) return "NoneType";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "float";
  if (typeof value === "string") return "str";
  return Array.isArray(value) ? "list" : value.type;
}

/** Whether a value is true by Python's rules. */
export function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (!(value instanceof Thing)) return Boolean(value) || Number.isNaN(value);
  if (value instanceof Undefined) return false;
  const size = sizeOf(value);
  return size === undefined || size > 0;
}

/** The number of items in a value; undefined if it has no length. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === "string") return lengthOf(value);
  if (value instanceof Markup) return lengthOf(value.text);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof DictView) return value.dict.size;
  if (value instanceof Range) return value.length;
  return value instanceof Undefined ? 0 : undefined;
}

/** A value's items: characters of a text, keys of a dict. Undefined if Python can't iterate it. */
export function itemsOf(value: Value): Iterator<Value> | undefined {
  return value instanceof Lazy ? value.values : storedItems(value)?.values();
}

/** The items of a value that already stores all of them. */
export function storedItems(value: Value): readonly Value[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return characters(value);
  if (value instanceof Tuple) return value.items;
  if (value instanceof Dict) return value.keys();
  if (value instanceof DictView || value instanceof Range) return value.items();
  return value instanceof Undefined ? [] : undefined;
}

/** `itemsOf` for a value that must be iterable. Throws JinjaError. */
export function iterate(value: Value): Iterator<Value> {
  const items = itemsOf(value);
  if (items === undefined) throw new JinjaError(`'${typeOf(value)}' object is not iterable`);
  return items;
}

/** All items of a value as a new array. Throws JinjaError. */
export function listOf(value: Value): Value[] {
  if (value instanceof Lazy) return Array.from({ [Symbol.iterator]: () => value.values });
  const items = storedItems(value);
  if (items === undefined) throw new JinjaError(`'${typeOf(value)}' object is not iterable`);
  spend(items.length / 16);
  return [...items];
}

/** A value, or another one if it is undefined. `??` would also replace None. */
export function orElse(value: Value | undefined, other: () => Value): Value {
  return value === undefined ? other() : value;
}

/** Throws an undefined value's message when it is used. */
export function needDefined(value: Value): void {
  if (value instanceof Undefined) throw new JinjaError(value.message);
}
