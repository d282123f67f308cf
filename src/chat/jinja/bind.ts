import { JinjaError } from "./errors.ts";
import { type Args, typeOf, type Value } from "./values.ts";

/**
 * Matches a call's arguments to parameters, in the parameters' order. A missing one is undefined, but the first
 * `required` ones must be present. Names after "/" can only be given by name if `byName` is set. Throws JinjaError.
 */
export function bind(
  called: string,
  { positional, named }: Args,
  parameters: readonly string[],
  required = 0,
  byName = true,
): (Value | undefined)[] {
  if (positional.length > parameters.length)
    throw new JinjaError(
      `${called}() takes at most ${parameters.length} arguments (${positional.length} given)`,
    );
  const values: (Value | undefined)[] = parameters.map((_, at) => positional[at]);
  for (const [name, value] of named) {
    const at = parameters.indexOf(name);
    if (at < 0 || !byName) throw new JinjaError(`${called}() got an unexpected keyword argument '${name}'`);
    if (values[at] !== undefined)
      throw new JinjaError(`${called}() got multiple values for argument '${name}'`);
    values[at] = value;
  }
  for (let at = 0; at < required; at++)
    if (values[at] === undefined) throw new JinjaError(`${called}() misses the argument '${parameters[at]}'`);
  return values;
}

/** An argument that must be a text. Throws JinjaError. */
export function textOf(value: Value | undefined, called: string): string {
  if (typeof value === "string") return value;
  throw new JinjaError(`${called}() wants a str, not ${typeOf(value ?? null)}`);
}

/** An argument that must be an int; `standard` if it is missing. Throws JinjaError. */
export function intOf(value: Value | undefined, called: string, standard?: number): number {
  if (value === undefined && standard !== undefined) return standard;
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "bigint") return Number(value);
  throw new JinjaError(`${called}() wants an int, not ${typeOf(value ?? null)}`);
}
