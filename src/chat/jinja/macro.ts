import { JinjaError } from "./errors.ts";
import type { Expression, MacroBody } from "./nodes.ts";
import type { Scope } from "./scope.ts";
import { type Args, Dict, orElse, Tuple, Undefined, type Value } from "./values.ts";

/**
 * Sets a macro's parameters in its scope, and uses defaults for missing arguments. Throws JinjaError for unknown
 * ones.
 */
export function callMacro(
  called: string,
  { parameters, reads }: MacroBody,
  { positional, named }: Args,
  scope: Scope,
  evaluate: (expression: Expression) => Value,
): void {
  const rest = new Map(named);
  const values = parameters.map(({ name }, at) => {
    const given = positional[at];
    if (given !== undefined) return given;
    const byName = rest.get(name);
    rest.delete(name);
    return byName;
  });
  if (reads.has("caller") && !parameters.some(({ name }) => name === "caller")) {
    scope.set(
      "caller",
      orElse(rest.get("caller"), () => new Undefined("No caller defined")),
    );
    rest.delete("caller");
  }
  if (reads.has("kwargs")) scope.set("kwargs", dictOf(rest));
  else if (rest.size > 0)
    throw new JinjaError(`macro '${called}' takes no keyword argument '${[...rest.keys()][0]}'`);
  if (reads.has("varargs")) scope.set("varargs", new Tuple(positional.slice(parameters.length)));
  else if (positional.length > parameters.length)
    throw new JinjaError(`macro '${called}' takes not more than ${parameters.length} argument(s)`);
  for (const [at, parameter] of parameters.entries()) {
    const standard = parameter.default;
    const missing = () =>
      standard ? evaluate(standard) : new Undefined(`parameter '${parameter.name}' was not provided`);
    scope.set(parameter.name, orElse(values[at], missing));
  }
}

function dictOf(named: ReadonlyMap<string, Value>): Dict {
  const dict = new Dict();
  for (const [name, value] of named) dict.set(name, value);
  return dict;
}
