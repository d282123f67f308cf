import type { Budget } from "./budget.ts";
import { numeric } from "./compare.ts";
import { JinjaError, UnsupportedJinjaError } from "./errors.ts";
import type { ArithmeticOperator } from "./nodes.ts";
import { percentFormat } from "./percent-format.ts";
import { escapedHtml, lengthOf } from "./text.ts";
import { Markup, needDefined, Tuple, typeOf, type Value } from "./values.ts";

/** The size limit of computed ints, in bits. */
const mostBits = 100_000n;

/** Python's arithmetic, including texts and lists. Throws JinjaError for types that Python refuses. */
export function arithmetic(budget: Budget, operator: ArithmeticOperator, left: Value, right: Value): Value {
  if (operator === "%" && typeof left === "string") return percentFormat(budget, left, right);
  needDefined(left);
  needDefined(right);
  const [one, other] = [numeric(left), numeric(right)];
  if (one !== undefined && other !== undefined) {
    return typeof one === "bigint" && typeof other === "bigint"
      ? ofInts(operator, one, other)
      : ofFloats(operator, Number(one), Number(other));
  }
  if (operator === "+") {
    if (typeof left === "string" && typeof right === "string") return budget.text(left + right);
    const [before, after] = [markupText(left), markupText(right)];
    if (before !== undefined && after !== undefined) return new Markup(budget.text(before + after));
    if (Array.isArray(left) && Array.isArray(right)) return budget.list([...left, ...right]);
    if (left instanceof Tuple && right instanceof Tuple)
      return new Tuple(budget.list([...left.items, ...right.items]));
  }
  if (operator === "*") {
    const repeated = typeof other === "bigint" ? repeat(budget, left, other) : undefined;
    const mirrored = typeof one === "bigint" ? repeat(budget, right, one) : undefined;
    const result = repeated ?? mirrored;
    if (result !== undefined) return result;
  }
  throw new JinjaError(
    `unsupported operand type(s) for ${operator}: '${typeOf(left)}' and '${typeOf(right)}'`,
  );
}

/** The form in which a text is added to one that is marked as escaped; undefined if the value is not a text. */
function markupText(value: Value): string | undefined {
  if (value instanceof Markup) return value.text;
  return typeof value === "string" ? escapedHtml(value) : undefined;
}

function repeat(budget: Budget, value: Value, times: bigint): Value | undefined {
  const count = times < 0n ? 0 : Number(times);
  if (typeof value === "string") {
    budget.reserve(lengthOf(value) * count);
    return value.repeat(count);
  }
  const items = value instanceof Tuple ? value.items : value;
  if (!Array.isArray(items)) return undefined;
  budget.reserve(items.length * count);
  const all: Value[] = [];
  for (let round = 0; round < count; round++) for (const item of items) all.push(item);
  return value instanceof Tuple ? new Tuple(all) : all;
}

function ofInts(operator: ArithmeticOperator, one: bigint, other: bigint): Value {
  switch (operator) {
    case "+":
      return one + other;
    case "-":
      return one - other;
    case "*":
      checkSize(bitsOf(one) + bitsOf(other));
      return one * other;
    case "/":
      return quotient(one, other);
    case "//":
      return floorDivided(one, other);
    case "%":
      return one - floorDivided(one, other) * other;
    case "**":
      if (other < 0n) return power(Number(one), Number(other));
      checkSize(one * one > 1n ? bitsOf(one) * other : 1n);
      return one ** other;
  }
}

function ofFloats(operator: ArithmeticOperator, one: number, other: number): number {
  switch (operator) {
    case "+":
      return one + other;
    case "-":
      return one - other;
    case "*":
      return one * other;
    case "/":
      checkDivisor(other);
      return one / other;
    case "//":
    case "%": {
      checkDivisor(other);
      const rest = one % other;
      const moved = rest !== 0 && rest < 0 !== other < 0;
      if (operator === "%") return rest === 0 ? (other < 0 ? -0 : 0) : moved ? rest + other : rest;
      const times = (one - rest) / other - (moved ? 1 : 0);
      if (times === 0) return one / other < 0 || Object.is(one / other, -0) ? -0 : 0;
      const floor = Math.floor(times);
      return times - floor > 0.5 ? floor + 1 : floor;
    }
    case "**":
      return power(one, other);
  }
}

function power(one: number, other: number): number {
  if (one === 0 && other < 0) throw new JinjaError("0.0 cannot be raised to a negative power");
  if (one < 0 && Number.isFinite(one) && Number.isFinite(other) && !Number.isInteger(other))
    throw new UnsupportedJinjaError("complex numbers are not supported");
  if (one === 1 || other === 0 || (one === -1 && !Number.isFinite(other))) return 1;
  const result = one ** other;
  if (!Number.isFinite(result) && Number.isFinite(one) && Number.isFinite(other))
    throw new JinjaError("the result is too large for a float");
  return result;
}

function quotient(one: bigint, other: bigint): number {
  if (other === 0n) throw new JinjaError("division by zero");
  const [left, right] = [Number(one), Number(other)];
  if (!Number.isSafeInteger(left) || !Number.isSafeInteger(right))
    throw new UnsupportedJinjaError("dividing ints above 2**53 is not supported");
  return left / right;
}

function floorDivided(one: bigint, other: bigint): bigint {
  if (other === 0n) throw new JinjaError("integer division or modulo by zero");
  const times = one / other;
  return one % other !== 0n && one < 0n !== other < 0n ? times - 1n : times;
}

function checkDivisor(divisor: number): void {
  if (divisor === 0) throw new JinjaError("float division by zero");
}

const bitsOf = (value: bigint) => BigInt(value.toString(16).length * 4);

function checkSize(bits: bigint): void {
  if (bits > mostBits)
    throw new UnsupportedJinjaError(`ints of more than ${mostBits} bits are not supported`);
}

/** Python's unary minus and plus. Throws JinjaError. */
export function signed(value: Value, sign: "negative" | "positive"): Value {
  needDefined(value);
  const number = numeric(value);
  if (number === undefined) throw new JinjaError(`bad operand type for unary sign: '${typeOf(value)}'`);
  return sign === "negative" ? -number : number;
}
