import { bind, intOf, textOf } from "./bind.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import { type Args, Dict, Invocable, iterate, listOf, Namespace, Range, type Value } from "./values.ts";
import { str } from "./written.ts";

/** The longest range in Jinja's sandbox. */
const longestRange = 100_000;

function range(args: Args): Range {
  const given = bind("range", args, ["start", "stop", "step"], 1, false);
  const [first = 0n, second, third = 1n] = given.map((value) =>
    value === undefined ? undefined : BigInt(intOf(value, "range")),
  );
  if (third === 0n) throw new JinjaError("range() arg 3 must not be zero");
  const made = second === undefined ? new Range(0n, first, 1n) : new Range(first, second, third);
  if (made.length > longestRange)
    throw new JinjaError(`range too big: the sandbox blocks ranges above ${longestRange}`);
  return made;
}

/** Python's `dict(…)`, from another dict, pairs, or named arguments. */
function dict(called: string, args: Args): Dict {
  const { positional, named } = args;
  const [source] = bind(called, { positional, named: new Map() }, ["iterable"], 0, false);
  const made = new Dict();
  if (source instanceof Dict) for (const [key, value] of source.entries()) made.set(key, value);
  else if (source !== undefined) {
    for (const pair of listOf(source)) {
      const [key, value, ...more] = listOf(pair);
      if (key === undefined || value === undefined || more.length > 0)
        throw new JinjaError("dictionary update sequence elements must have length 2");
      made.set(key, value);
    }
  }
  for (const [name, value] of named) made.set(name, value);
  return made;
}

function namespace(args: Args): Namespace {
  const members = new Map<string, Value>();
  for (const [key, value] of dict("namespace", args).entries()) {
    const name = textOf(key, "namespace");
    checkMember(name);
    members.set(name, value);
  }
  return new Namespace(members);
}

/** transformers refuses members of namespaces that begin with an underscore. Throws JinjaError. */
export function checkMember(name: string): void {
  if (name.startsWith("_"))
    throw new JinjaError(`a namespace cannot store '${name}', which begins with an underscore`);
}

function cycler({ positional }: Args): Value {
  if (positional.length === 0) throw new JinjaError("at least one item has to be provided");
  return new Cycler(positional);
}

/** The object that `cycler(…)` returns. */
class Cycler extends Invocable {
  override readonly type = "Cycler";
  readonly #items: readonly Value[];
  #at = 0;
  constructor(items: readonly Value[]) {
    super(() => {
      throw new JinjaError("'Cycler' object is not callable");
    });
    this.#items = items;
  }
  override attribute(name: string): Value | undefined {
    const current = this.#items[this.#at] ?? null;
    if (name === "current") return current;
    if (name === "reset") return this.#moved(() => 0, null);
    return name === "next" ? this.#moved((at) => (at + 1) % this.#items.length) : undefined;
  }
  #moved(to: (at: number) => number, result?: null): Invocable {
    return new Invocable(() => {
      const value = this.#items[this.#at] ?? null;
      this.#at = to(this.#at);
      return result === null ? null : value;
    });
  }
}

function joiner(args: Args): Invocable {
  const [between = ", "] = bind("joiner", args, ["sep"]);
  let used = false;
  return new Invocable(() => {
    const value = used ? between : "";
    used = true;
    return value;
  });
}

/** The global functions of templates. transformers adds `raise_exception` and `strftime_now`. */
export function globalsWith(now: (form: string) => string): ReadonlyMap<string, Value> {
  return new Map<string, Value>([
    ["range", new Invocable(range)],
    [
      "dict",
      new Invocable((args) => dict("dict", args), undefined, {
        fromkeys: new Invocable((args) => {
          const [keys = null, value = null] = bind("fromkeys", args, ["iterable", "value"], 1, false);
          const made = new Dict();
          for (const key of { [Symbol.iterator]: () => iterate(keys) }) made.set(key, value);
          return made;
        }),
      }),
    ],
    ["namespace", new Invocable(namespace)],
    ["cycler", new Invocable(cycler)],
    ["joiner", new Invocable(joiner)],
    [
      "lipsum",
      new Invocable(() => {
        throw new UnsupportedJinjaError("lipsum() is not supported");
      }),
    ],
    [
      "raise_exception",
      new Invocable((args) => {
        const [message = null] = bind("raise_exception", args, ["message"], 1);
        throw new JinjaError(str(message));
      }),
    ],
    [
      "strftime_now",
      new Invocable((args) => {
        const [form] = bind("strftime_now", args, ["format"], 1);
        return now(textOf(form, "strftime_now"));
      }),
    ],
  ]);
}
