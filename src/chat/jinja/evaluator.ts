import { sliced } from "./access.ts";
import { arithmetic, signed } from "./arithmetic.ts";
import type { Budget } from "./budget.ts";
import { areEqual, contains, ordered } from "./compare.ts";
import { isConstant } from "./constant.ts";
import { JinjaError } from "./errors.ts";
import { filters, unknownFilter } from "./filters.ts";
import type { Arguments, ComparisonOperator, Expression, Filter } from "./nodes.ts";
import type { Run } from "./run.ts";
import type { Scope } from "./scope.ts";
import { joined, type Tools } from "./string-methods.ts";
import { tests } from "./tests.ts";
import {
  type Args,
  Dict,
  Invocable,
  isTrue,
  listOf,
  needDefined,
  orElse,
  Tuple,
  typeOf,
  Undefined,
  type Value,
} from "./values.ts";
import { str } from "./written.ts";

type Invocation = Expression & { kind: "call" };

/** Evaluates expressions. Throws JinjaError. */
export class Evaluator implements Run {
  readonly budget: Budget;
  readonly access: Tools;

  constructor(access: Tools) {
    this.access = access;
    this.budget = access.budget;
  }

  value(expression: Expression, scope: Scope): Value {
    this.budget.step();
    switch (expression.kind) {
      case "constant":
        return expression.value;
      case "name":
        return orElse(scope.get(expression.name), () => new Undefined(`'${expression.name}' is undefined`));
      case "list":
        return expression.items.map((item) => this.value(item, scope));
      case "tuple":
        return new Tuple(expression.items.map((item) => this.value(item, scope)));
      case "dict": {
        const dict = new Dict();
        for (const [key, value] of expression.entries)
          dict.set(this.value(key, scope), this.value(value, scope));
        return dict;
      }
      case "attribute":
        return this.access.attribute(this.value(expression.object, scope), expression.name);
      case "item":
        return this.access.item(this.value(expression.object, scope), this.value(expression.key, scope));
      case "slice": {
        const object = this.value(expression.object, scope);
        const bounds = expression.bounds.map((bound) => bound && this.value(bound, scope));
        const made = sliced(object, bounds);
        // Jinja computes this before the template runs and gets undefined, where it would fail later.
        if (made === undefined && isConstant(expression))
          return new Undefined("what can't be sliced is undefined");
        if (made === undefined) throw new JinjaError(`'${typeOf(object)}' object can't be sliced`);
        return this.counted(made);
      }
      case "call":
        return this.call(expression, scope);
      case "filter":
        return this.filtered(this.value(expression.operand, scope), expression.filter, scope);
      case "test": {
        const value = this.value(expression.operand, scope);
        return this.test(expression.name, value, this.args(expression.args, scope));
      }
      case "not":
        return !isTrue(this.value(expression.operand, scope));
      case "negative":
      case "positive":
        return signed(this.value(expression.operand, scope), expression.kind);
      case "and":
      case "or": {
        const left = this.value(expression.left, scope);
        return isTrue(left) === (expression.kind === "or") ? left : this.value(expression.right, scope);
      }
      case "arithmetic": {
        const left = this.value(expression.left, scope);
        const right = this.value(expression.right, scope);
        if (expression.signLast && (typeof left === "bigint" || typeof left === "number") && left < 0)
          return signed(arithmetic(this.budget, "**", -left, right), "negative");
        return arithmetic(this.budget, expression.operator, left, right);
      }
      case "concatenation": {
        const parts = expression.parts.map((part) => this.value(part, scope));
        return joined(parts.map(str), "", this.budget);
      }
      case "comparison":
        return this.compared(expression, scope);
      case "conditional":
        if (isTrue(this.value(expression.test, scope))) return this.value(expression.then, scope);
        if (expression.otherwise) return this.value(expression.otherwise, scope);
        return new Undefined("the inline if-expression evaluated to false and no else section was defined");
    }
  }

  /** Makes a call. `caller` is the body of a call block. */
  call({ callee, args }: Invocation, scope: Scope, caller?: Invocable): Value {
    const called = this.value(callee, scope);
    const given = this.args(args, scope);
    if (caller !== undefined) given.named.set("caller", caller);
    needDefined(called);
    if (!(called instanceof Invocable)) throw new JinjaError(`'${typeOf(called)}' object is not callable`);
    return called.call(given);
  }

  filtered(value: Value, { name, args }: Filter, scope: Scope): Value {
    return this.filter(name, value, this.args(args, scope));
  }

  filter(name: string, value: Value, args: Args): Value {
    const filter = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (filter === undefined) throw unknownFilter(name);
    this.budget.step(typeof value === "string" ? 1 + value.length / 16 : 1);
    return filter(value, args, this);
  }

  test(name: string, value: Value, args: Args): boolean {
    const test = Object.hasOwn(tests, name) ? tests[name] : undefined;
    if (test === undefined) throw new JinjaError(`no test named '${name}'`);
    this.budget.step(typeof value === "string" ? 1 + value.length / 16 : 1);
    return test(value, args, this);
  }

  attributeReader(path: Value, standard?: Value): (value: Value) => Value {
    if (path === null) return (value) => value;
    const keys: Value[] =
      typeof path === "string"
        ? path.split(".").map((key) => (/^\d+$/.test(key) ? BigInt(key) : key))
        : [path];
    return (value) => {
      let found = value;
      for (const key of keys) {
        found = this.access.item(found, key);
        if (standard !== undefined && standard !== null && found instanceof Undefined) found = standard;
      }
      return found;
    };
  }

  private counted(value: Value): Value {
    if (typeof value === "string" || Array.isArray(value)) this.budget.reserve(value.length);
    return value;
  }

  private compared({ first, rest }: Expression & { kind: "comparison" }, scope: Scope): Value {
    let left = this.value(first, scope);
    for (const { operator, operand } of rest) {
      const right = this.value(operand, scope);
      if (!compares(operator, left, right)) return false;
      left = right;
    }
    return true;
  }

  private args({ positional, named, spread, spreadNamed }: Arguments, scope: Scope): Args {
    const given = positional.map((one) => this.value(one, scope));
    const byName = new Map(named.map(([name, one]) => [name, this.value(one, scope)]));
    if (spread) given.push(...this.budget.list(listOf(this.value(spread, scope))));
    if (spreadNamed) {
      const more = this.value(spreadNamed, scope);
      if (!(more instanceof Dict))
        throw new JinjaError(`argument after ** must be a mapping, not ${typeOf(more)}`);
      for (const [name, one] of more.entries()) {
        if (typeof name !== "string") throw new JinjaError("keywords must be strings");
        if (byName.has(name)) throw new JinjaError(`got multiple values for keyword argument '${name}'`);
        byName.set(name, one);
      }
    }
    return { positional: given, named: byName };
  }
}

function compares(operator: ComparisonOperator, left: Value, right: Value): boolean {
  if (operator === "==") return areEqual(left, right);
  if (operator === "!=") return !areEqual(left, right);
  if (operator === "in") return contains(right, left);
  if (operator === "not in") return !contains(right, left);
  return ordered(left, right, operator);
}
