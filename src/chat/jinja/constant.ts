import type { Arguments, Expression } from "./nodes.ts";

/** Filters that depend on more than their value. */
const dependent = ["map", "select", "reject", "selectattr", "rejectattr"];

/** Whether Jinja computes an expression before the template runs: it reads no variables and calls nothing. */
export function isConstant(expression: Expression): boolean {
  switch (expression.kind) {
    case "constant":
      return true;
    case "name":
    case "call":
      return false;
    case "list":
    case "tuple":
      return expression.items.every(isConstant);
    case "dict":
      return expression.entries.every((entry) => entry.every(isConstant));
    case "attribute":
      return isConstant(expression.object);
    case "item":
      return isConstant(expression.object) && isConstant(expression.key);
    case "slice":
      return isConstant(expression.object) && expression.bounds.every((bound) => !bound || isConstant(bound));
    case "filter":
      return (
        !dependent.includes(expression.filter.name) &&
        isConstant(expression.operand) &&
        areConstant(expression.filter.args)
      );
    case "test":
      return isConstant(expression.operand) && areConstant(expression.args);
    case "not":
    case "negative":
    case "positive":
      return isConstant(expression.operand);
    case "and":
    case "or":
    case "arithmetic":
      return isConstant(expression.left) && isConstant(expression.right);
    case "concatenation":
      return expression.parts.every(isConstant);
    case "comparison":
      return isConstant(expression.first) && expression.rest.every(({ operand }) => isConstant(operand));
    case "conditional":
      return [expression.test, expression.then, expression.otherwise].every(
        (part) => !part || isConstant(part),
      );
  }
}

function areConstant({ positional, named, spread, spreadNamed }: Arguments): boolean {
  const values = [...positional, ...named.map(([, value]) => value), spread, spreadNamed];
  return values.every((value) => !value || isConstant(value));
}
