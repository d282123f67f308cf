import { JinjaError } from "./errors.ts";
import { globalsWith } from "./globals.ts";
import { rendered } from "./interpreter.ts";
import type { Statement } from "./nodes.ts";
import { parseTemplate } from "./parser.ts";
import { Scope } from "./scope.ts";
import { Dict, type Value } from "./values.ts";

/**
 * A Jinja template as transformers renders chat templates: with Python's semantics, in a sandbox, and with limits on
 * its work.
 */
export interface Template {
  statements: Statement[];
  /** Renders with JSON variables. Throws JinjaError if Python would fail, or if the result can't be exact here. */
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** Parses a template. `now` implements its `strftime_now`. Throws JinjaError. */
export function compileTemplate(source: string, now: (form: string) => string): Template {
  const statements = bounded(() => parseTemplate(source));
  const render = (variables: Readonly<Record<string, unknown>>) => {
    const outer = new Scope();
    for (const [name, value] of globalsWith(now)) outer.set(name, value);
    for (const [name, value] of Object.entries(variables))
      if (value !== undefined) outer.set(name, fromJson(value));
    return bounded(() => rendered(statements, new Scope(outer)));
  };
  return { statements, render };
}

/** Turns an overflow of JavaScript's stack into an error of the template. */
function bounded<Result>(action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (error instanceof RangeError)
      throw new JinjaError("it is nested too deeply, or makes too much", { cause: error });
    throw error;
  }
}

/** Converts JSON to a template's values: whole numbers are ints, others floats. Undefined entries are left out. */
function fromJson(value: unknown): Value {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number")
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== "object") throw new JinjaError(`a ${typeof value} is not JSON`);
  const dict = new Dict();
  for (const [key, one] of Object.entries(value)) if (one !== undefined) dict.set(key, fromJson(one));
  return dict;
}
