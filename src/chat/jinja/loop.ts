import { spend } from "./budget.ts";
import { areEqual } from "./compare.ts";
import { JinjaError } from "./errors.ts";
import { type Args, Invocable, itemsOf, Lazy, sizeOf, Undefined, type Value } from "./values.ts";

/** The variable `loop`, which describes a loop's progress. It reads items of generators one at a time. */
export class Loop extends Invocable {
  override readonly type = "LoopContext";
  #index0 = -1;
  #items: Iterator<Value>;
  #length: number | undefined;
  #after: IteratorResult<Value> | undefined;
  #before: Value | undefined;
  #current: Value | undefined;
  #changed: Value[] | undefined;
  readonly #depth0: number;

  /**
   * `length` is undefined if only reading all items would reveal it. `again` renders the loop's body for other
   * items.
   */
  constructor(
    items: Iterator<Value>,
    length: number | undefined,
    depth0: number,
    again: ((args: Args) => Value) | undefined,
  ) {
    super(again ?? notRecursive);
    this.#items = items;
    this.#length = length;
    this.#depth0 = depth0;
  }

  /** Advances to the next item; undefined after the last. */
  next(): Value | undefined {
    const next = this.#peek();
    this.#after = undefined;
    if (next.done === true) return undefined;
    this.#index0++;
    this.#before = this.#current;
    this.#current = next.value;
    return next.value;
  }

  #peek(): IteratorResult<Value> {
    this.#after ??= this.#items.next();
    return this.#after;
  }

  get length(): number {
    if (this.#length === undefined) {
      const known = this.#index0 + 1 + (this.#after !== undefined && this.#after.done !== true ? 1 : 0);
      const rest = Array.from({ [Symbol.iterator]: () => this.#items });
      this.#length = known + rest.length;
      this.#items = rest.values();
    }
    return this.#length;
  }

  override printed(): string {
    return `<LoopContext ${this.#index0 + 1}/${this.length}>`;
  }

  override attribute(name: string): Value | undefined {
    const at = this.#index0;
    switch (name) {
      case "index":
        return BigInt(at + 1);
      case "index0":
        return BigInt(at);
      case "revindex":
        return BigInt(this.length - at);
      case "revindex0":
        return BigInt(this.length - at - 1);
      case "first":
        return at === 0;
      case "last":
        return this.#peek().done === true;
      case "length":
        return BigInt(this.length);
      case "depth":
        return BigInt(this.#depth0 + 1);
      case "depth0":
        return BigInt(this.#depth0);
      case "previtem":
        return at === 0 ? new Undefined("there is no previous item") : this.#before;
      case "nextitem": {
        const next = this.#peek();
        return next.done === true ? new Undefined("there is no next item") : next.value;
      }
      case "cycle":
        return new Invocable(({ positional }) => {
          const value = positional[at % positional.length];
          if (value === undefined) throw new JinjaError("no items for cycling given");
          return value;
        });
      case "changed":
        return new Invocable(({ positional }) => {
          if (this.#changed !== undefined && areEqual(this.#changed, positional)) return false;
          this.#changed = positional;
          return true;
        });
    }
    return undefined;
  }
}

function notRecursive(): never {
  throw new JinjaError("the loop must have the 'recursive' marker to be called recursively");
}

/** A loop's items, and their number if it is known in advance. */
export function loopItems(value: Value): { items: Iterator<Value>; length: number | undefined } {
  const items = itemsOf(value);
  if (items === undefined) throw new JinjaError("a loop over what is not iterable");
  if (value instanceof Lazy) return { items, length: undefined };
  spend((sizeOf(value) ?? 0) / 16);
  const all = Array.from({ [Symbol.iterator]: () => items });
  return { items: all.values(), length: all.length };
}
