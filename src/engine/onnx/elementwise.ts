import { broadcastShapes } from "./dimensions.ts";
import { elementTypes } from "./element-types.ts";
import {
  type BoolValue,
  type DataType,
  type FloatValue,
  graphError,
  type IntValue,
  type Value,
} from "./graph.ts";

/** A float tensor, or a number used as a scalar. */
export type Operand = FloatValue | number;

function binary(op: string, a: Operand, b: Operand): FloatValue {
  const graph = typeof a !== "number" ? a.graph : typeof b !== "number" ? b.graph : undefined;
  if (!graph) throw graphError(`${op} of two plain numbers`);
  const left = typeof a === "number" ? graph.floats([a]) : a;
  const right = typeof b === "number" ? graph.floats([b]) : b;
  return graph.emit(op, [left, right], { dtype: "float32", shape: broadcastShapes(left.shape, right.shape) });
}

function unary(op: string, a: FloatValue): FloatValue {
  return a.graph.emit(op, [a], { dtype: "float32", shape: a.shape });
}

/** a + b, broadcasting. */
export const add = (a: Operand, b: Operand): FloatValue => binary("Add", a, b);
/** a − b, broadcasting. */
export const sub = (a: Operand, b: Operand): FloatValue => binary("Sub", a, b);
/** a · b element by element, broadcasting. */
export const mul = (a: Operand, b: Operand): FloatValue => binary("Mul", a, b);
/** a / b, broadcasting. */
export const div = (a: Operand, b: Operand): FloatValue => binary("Div", a, b);
/** The smaller of a and b, broadcasting. If they are equal, the gradient goes to a. */
export const minimum = (a: Operand, b: Operand): FloatValue => binary("Min", a, b);
/** The larger of a and b, broadcasting. If they are equal, the gradient goes to a. */
export const maximum = (a: Operand, b: Operand): FloatValue => binary("Max", a, b);

/** −a. */
export const negate = (a: FloatValue): FloatValue => unary("Neg", a);
/** |a|. No gradient rule. */
export const absolute = (a: FloatValue): FloatValue => unary("Abs", a);
/** Rounds to the nearest integer, ties to even. No gradient rule. */
export const nearestWhole = (a: FloatValue): FloatValue => unary("Round", a);
/** e to the a. */
export const exp = (a: FloatValue): FloatValue => unary("Exp", a);
/** The natural logarithm. */
export const log = (a: FloatValue): FloatValue => unary("Log", a);
/** log(1 + e^a), without overflow: −log σ(−a). */
export const softplus = (a: FloatValue): FloatValue => unary("Softplus", a);
/** The square root. */
export const sqrt = (a: FloatValue): FloatValue => unary("Sqrt", a);
/** The hyperbolic tangent. */
export const tanh = (a: FloatValue): FloatValue => unary("Tanh", a);
/** The error function, 2 / √π times the integral of e^−t² from 0 to a. */
export const erf = (a: FloatValue): FloatValue => unary("Erf", a);
/** 1 / (1 + e^−a). */
export const sigmoid = (a: FloatValue): FloatValue => unary("Sigmoid", a);

/** Clamps a between two numbers. The gradient is zero outside. */
export function clip(a: FloatValue, low: number, high: number): FloatValue {
  const bounds = [a.graph.floats([low]), a.graph.floats([high])];
  return a.graph.emit("Clip", [a, ...bounds], { dtype: "float32", shape: a.shape });
}

/** Returns cap · tanh(a / cap): close to a if a is small, never beyond ±cap. */
export function softCap(a: FloatValue, cap: number): FloatValue {
  return mul(tanh(mul(a, 1 / cap)), cap);
}

function compare<Type extends DataType>(op: string, a: Value<Type>, b: Value<Type>): BoolValue {
  return a.graph.emit(op, [a, b], { dtype: "bool", shape: broadcastShapes(a.shape, b.shape) });
}

/** a ≤ b, broadcasting. */
export function lessOrEqual<Type extends "float32" | "int64">(a: Value<Type>, b: Value<Type>): BoolValue {
  return compare("LessOrEqual", a, b);
}

/** a < b, broadcasting. */
export function less<Type extends "float32" | "int64">(a: Value<Type>, b: Value<Type>): BoolValue {
  return compare("Less", a, b);
}

/** a = b, broadcasting. */
export function equal(a: IntValue, b: IntValue): BoolValue {
  return compare("Equal", a, b);
}

/** Divides nonnegative integers by a number and rounds down. */
export function wholeQuotient(a: IntValue, divisor: number): IntValue {
  return a.graph.emit("Div", [a, a.graph.ints([divisor], [])], { dtype: "int64", shape: a.shape });
}

/** 0 < a. */
export function positive(a: FloatValue): BoolValue {
  return less(a.graph.floats([0]), a);
}

/** Returns a where the condition holds, else b, broadcasting. */
export function where(condition: BoolValue, a: Operand, b: Operand): FloatValue {
  const { graph } = condition;
  const left = typeof a === "number" ? graph.floats([a]) : a;
  const right = typeof b === "number" ? graph.floats([b]) : b;
  const shape = broadcastShapes(condition.shape, broadcastShapes(left.shape, right.shape));
  return graph.emit("Where", [condition, left, right], { dtype: "float32", shape });
}

/** Like `where`, for integers. */
export function intsWhere(condition: BoolValue, a: IntValue, b: IntValue): IntValue {
  const shape = broadcastShapes(condition.shape, broadcastShapes(a.shape, b.shape));
  return condition.graph.emit("Where", [condition, a, b], { dtype: "int64", shape });
}

/** Converts integers, booleans or half floats to floats. */
export function toFloat(a: Value): FloatValue {
  return a.graph.emit("Cast", [a], { dtype: "float32", shape: a.shape }, { to: elementTypes.float32 });
}

/** Returns a as a constant for differentiation. */
export function detached(a: FloatValue): FloatValue {
  const { graph, shape } = a;
  const build = () => ({
    output: graph.emit("Identity", [a], { dtype: "float32", shape }),
    saved: [],
    rule: () => [],
  });
  return graph.composite("Detached", [a], build);
}
