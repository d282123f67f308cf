import { arithmetic } from "./arithmetic.ts";
import { bind } from "./bind.ts";
import { areEqual, contains, numeric, ordered } from "./compare.ts";
import { filters, missingFilters } from "./filters.ts";
import { isAll } from "./letter-case.ts";
import type { Run } from "./run.ts";
import {
  type Args,
  Dict,
  DictView,
  hashed,
  Invocable,
  itemsOf,
  Markup,
  sizeOf,
  Undefined,
  type Value,
} from "./values.ts";
import { str } from "./written.ts";

/** A test, which follows `is`. */
export type TestFunction = (value: Value, args: Args, run: Run) => boolean;

const plain =
  (holds: (value: Value, run: Run) => boolean): TestFunction =>
  (value, args, run) => {
    bind("test", args, []);
    return holds(value, run);
  };

const against =
  (holds: (value: Value, other: Value, run: Run) => boolean): TestFunction =>
  (value, args, run) => {
    const [other = null] = bind("test", args, ["other"], 1);
    return holds(value, other, run);
  };

const divides = (value: Value, by: Value, { budget }: Run) =>
  areEqual(arithmetic(budget, "%", value, by), 0n);

const comparison = (operator: "<" | "<=" | ">" | ">=") =>
  against((value, other) => ordered(value, other, operator));
const [less, lessOrEqual, greater, greaterOrEqual] = [
  comparison("<"),
  comparison("<="),
  comparison(">"),
  comparison(">="),
];
const equal = against(areEqual);
const unequal = against((value, other) => !areEqual(value, other));

/** Whether two values are the same object in Python. Equal small values are. */
const isSame = (value: Value, other: Value) => value === other;

/** Whether a value is one of the names. The value must be hashable. */
function isKey(value: Value, names: readonly string[]): boolean {
  const hash = hashed(value);
  return names.some((name) => hashed(name) === hash);
}

/** Jinja's tests. */
export const tests: Readonly<Record<string, TestFunction>> = {
  boolean: plain((value) => typeof value === "boolean"),
  callable: plain((value) => value instanceof Invocable || value instanceof Undefined),
  defined: plain((value) => !(value instanceof Undefined)),
  divisibleby: against(divides),
  escaped: plain((value) => value instanceof Markup),
  even: plain((value, run) => divides(value, 2n, run)),
  false: plain((value) => value === false),
  filter: plain((value) => isKey(value, [...Object.keys(filters), ...missingFilters])),
  float: plain((value) => typeof value === "number"),
  in: against((value, container) => contains(container, value)),
  integer: plain((value) => typeof value === "bigint"),
  iterable: plain((value) => itemsOf(value) !== undefined || value instanceof Markup),
  lower: plain((value) => isAll(str(value), "lower")),
  mapping: plain((value) => value instanceof Dict),
  none: plain((value) => value === null),
  number: plain((value) => numeric(value) !== undefined),
  odd: plain((value, { budget }) => areEqual(arithmetic(budget, "%", value, 2n), 1n)),
  sameas: against(isSame),
  sequence: plain((value) => sizeOf(value) !== undefined && !(value instanceof DictView)),
  string: plain((value) => typeof value === "string" || value instanceof Markup),
  test: plain((value) => isKey(value, Object.keys(tests))),
  true: plain((value) => value === true),
  undefined: plain((value) => value instanceof Undefined),
  upper: plain((value) => isAll(str(value), "upper")),
  "==": equal,
  eq: equal,
  equalto: equal,
  "!=": unequal,
  ne: unequal,
  ">": greater,
  gt: greater,
  greaterthan: greater,
  ">=": greaterOrEqual,
  ge: greaterOrEqual,
  "<": less,
  lt: less,
  lessthan: less,
  "<=": lessOrEqual,
  le: lessOrEqual,
};
