import { EverturnError } from "../../base/errors/everturn-error.ts";
import { type Dimension, factorsOf, type Shape } from "./dimensions.ts";
import { elementBytes } from "./element-bytes.ts";
import { elementCount } from "./element-count.ts";

/** The element types in use. Half types occur only between nodes, added by inHalfPrecision. */
export type DataType =
  | "float32"
  | "float16"
  | "bfloat16"
  | "int32"
  | "int64"
  | "bool"
  | "int8"
  | "uint8"
  | "uint4";

/** The floating-point types. */
export type FloatDataType = Extract<DataType, "float32" | "float16" | "bfloat16">;

/** A tensor inside a graph. `graph` is the graph that created it, where operators find it. */
export interface Value<Type extends DataType = DataType> {
  readonly name: string;
  readonly dtype: Type;
  readonly shape: Shape;
  readonly graph: Graph;
}

/** A float32 value of a graph. */
export type FloatValue = Value<"float32">;
export type IntValue = Value<"int64">;
export type BoolValue = Value<"bool">;

/** The supported ONNX attributes. Numbers become INT, `{ float }` FLOAT, and `{ body }` GRAPH. */
export type Attribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly body: GraphBody };
export type Attributes = Readonly<Record<string, Attribute>>;

/** An ONNX node. */
export interface GraphNode {
  readonly op: string;
  readonly domain: string;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly attributes: Attributes;
}

/** Returns the values that a node reads: its inputs, and those that its body captures. */
export function readsOf({ inputs, attributes: { body } }: GraphNode): readonly Value[] {
  return typeof body === "object" && "body" in body ? [...inputs, ...body.body.captured] : inputs;
}

/**
 * A step for differentiation: a node with a float output, or a composite of several nodes under its own name. Inputs
 * are sorted by element type. `saved` contains the values that a composite's rule needs.
 */
export interface TapeEntry {
  readonly op: string;
  readonly floats: readonly FloatValue[];
  readonly ints: readonly IntValue[];
  readonly bools: readonly BoolValue[];
  readonly output: FloatValue;
  readonly attributes: Attributes;
  readonly saved: readonly FloatValue[];
  readonly rebuild?: (() => FloatValue) | undefined;
  readonly remake?: Remake | undefined;
  /** A rule that replaces the one of `op`. */
  readonly rule?: GradientRule | undefined;
}

/** Recomputes a composite from its inputs in the backward pass. */
export type Remake = (floats: readonly FloatValue[]) => Pick<CompositeResult, "output" | "saved">;

/** Constant data inside the model or in a separate file. */
export interface Initializer {
  readonly value: Value;
  readonly data: Float32Array | BigInt64Array | Uint8Array | StoredData;
}

/** Numbers in a file of the folder that the session reads weights from. The offset is in bytes. */
export interface StoredData {
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

/** Types of quantized numbers. */
type BytesType = "uint8" | "uint4";

interface OutputOf<Type extends DataType> {
  readonly dtype: Type;
  readonly shape: Shape;
}

/** The contents of a graph, or of a node's body. */
export interface GraphBody {
  readonly nodes: readonly GraphNode[];
  readonly initializers: readonly Initializer[];
  readonly inputs: readonly Value[];
  readonly outputs: ReadonlyMap<string, Value>;
  /** In the body of a node: values of the surrounding graph that the body reads. */
  readonly captured: readonly Value[];
  /** Sizes that are fractions of others. */
  readonly shares: ReadonlyMap<string, Share>;
}

/** An ONNX graph under construction. Create it with `createGraph`. */
export interface Graph extends GraphBody {
  readonly tape: readonly TapeEntry[];
  /** In the body of a node: returns a value of the surrounding graph for use inside. */
  capture<Type extends DataType>(value: Value<Type>): Value<Type>;
  /** Replaces an omitted optional input of a node. */
  readonly absent: FloatValue;
  /** Declares an input to feed at each pass. A name in its shape becomes a dimension of the graph. */
  input<Type extends DataType>(name: string, dtype: Type, shape: Shape): Value<Type>;
  /** Adds a float constant. Equal scalars share one. */
  floats(data: readonly number[] | Float32Array, shape?: readonly number[]): FloatValue;
  /**
   * Adds a float constant that stays in its file, which is mapped into memory instead of being copied through the
   * model. The runtime widens half-precision numbers when it prepares the model.
   */
  stored(file: string, offset: number, shape: readonly number[], dtype?: FloatDataType): FloatValue;
  /** Adds a constant of small integers. Two of type uint4 share a byte, the first in its lower half. */
  bytes<Type extends BytesType>(dtype: Type, data: Uint8Array, shape: readonly number[]): Value<Type>;
  /** Adds a constant of this type that stays unchanged in its file. */
  storedValue<Type extends BytesType | FloatDataType>(
    dtype: Type,
    file: string,
    offset: number,
    shape: readonly number[],
  ): Value<Type>;
  /** Adds a one-dimensional int64 constant, or a scalar with shape []. Equal ones share one. */
  ints(data: readonly number[], shape?: readonly number[]): IntValue;
  /** Returns a shape as an int64 tensor, including sizes known only at run time. */
  shapeTensor(shape: Shape): IntValue;
  /** Names a value as an output of the model. */
  output(name: string, value: Value): void;
  /** Appends a node with one output. Operators call this, and models call operators. */
  emit<Type extends DataType>(
    op: string,
    inputs: readonly Value[],
    output: OutputOf<Type>,
    attributes?: Attributes,
    domain?: string,
  ): Value<Type>;
  /** Appends a node with several float outputs of these shapes. No gradient rule. */
  emitSeveral(
    op: string,
    inputs: readonly Value[],
    outputs: readonly Shape[],
    attributes: Attributes,
    domain: string,
  ): FloatValue[];
  /** Appends a node with an output and others of another type. No gradient rule. */
  emitWith<First extends DataType, Other extends DataType>(
    op: string,
    inputs: readonly Value[],
    outputs: { first: OutputOf<First>; others: readonly OutputOf<Other>[] },
    attributes?: Attributes,
    domain?: string,
  ): { first: Value<First>; others: Value<Other>[] };
  /** Declares the approximate size of a named dimension as a fraction of another, one of `shares`. Returns the name. */
  share(name: string, of: Dimension, part: number): string;
  /** Runs `build` and hides its nodes from differentiation, which sees one entry named `op` instead. */
  composite(
    op: string,
    inputs: readonly Value[],
    build: () => CompositeResult,
    attributes?: Attributes,
  ): FloatValue;
}

/** A size that is known only at run time, as a fraction of another dimension. */
export interface Share {
  readonly of: Dimension;
  readonly part: number;
}

/** The result of a composite, and the intermediate values that its gradient rule needs. */
export interface CompositeResult {
  readonly output: FloatValue;
  readonly saved: readonly FloatValue[];
  /** Recomputes the output. Differentiation then passes through the recomputation, and nothing has to be kept. */
  readonly rebuild?: () => FloatValue;
  /**
   * For a large output that is cheap to compute: the backward pass recomputes it when a rule needs it, so that it need
   * not be kept.
   */
  readonly remake?: Remake;
  /** The gradient rule, if it isn't that of the composite's name. */
  readonly rule?: GradientRule;
}

/**
 * A step's gradient of an input. Either the gradient itself, or `total` from a rule that already added it to the sum so
 * far, or parts that are combined if the whole is needed.
 */
export type Cotangent = FloatValue | { readonly total: FloatValue } | GradientParts | undefined;

/**
 * Parts of a gradient: one that is computed only on demand, because it is large and computed from little, and rows of
 * it.
 */
export interface GradientParts {
  readonly later?: () => FloatValue;
  readonly rows?: GradientRows;
}

/** Rows [count, ...] to add to a gradient at their numbers [count]. Repeated numbers add up. */
export interface GradientRows {
  readonly numbers: IntValue;
  readonly updates: FloatValue;
}

/**
 * How a gradient passes one step backward, from the gradient of the step's output to those of its float inputs, in
 * order. Inputs without a gradient are undefined or omitted at the end. `sumOf` returns the gradient of the float input
 * at a position from later steps.
 */
export type GradientRule = (
  dy: FloatValue,
  step: TapeEntry,
  sumOf: (place: number) => FloatValue | undefined,
) => readonly Cotangent[];

function isOf<Type extends DataType>(dtype: Type) {
  return (value: Value): value is Value<Type> => value.dtype === dtype;
}

/** Returns the error for any misuse of the builder. */
export function graphError(reason: string): EverturnError {
  return new EverturnError("ONNX_GRAPH_INVALID", { reason });
}

/**
 * Creates an empty graph. With `prefix`, with which all names inside begin, it is the body of a node of another graph.
 */
export function createGraph(prefix = ""): Graph {
  const nodes: GraphNode[] = [];
  const tape: TapeEntry[] = [];
  const initializers: Initializer[] = [];
  const inputs: Value[] = [];
  const outputs = new Map<string, Value>();
  const captured: Value[] = [];
  const constants = new Map<string, FloatValue | IntValue>();
  const stored = new Map<string, Value>();
  const shapes = new Map<string, IntValue>();
  const sizes = new Map<string, { value: Value; axis: number }>();
  const shares = new Map<string, Share>();
  let count = 0;
  let hidden = 0;

  function remember<Type extends DataType>(value: Value<Type>): Value<Type> {
    value.shape.forEach((dimension, axis) => {
      if (typeof dimension === "string" && !dimension.includes("*") && !sizes.has(dimension)) {
        sizes.set(dimension, { value, axis });
      }
    });
    return value;
  }

  const named = <Type extends DataType>(op: string, output: OutputOf<Type>): Value<Type> => ({
    name: `${prefix}${op}_${count++}`,
    ...output,
    graph,
  });

  function pushNode(node: GraphNode): void {
    const foreign = node.inputs.find((value) => value.graph !== graph);
    if (foreign) throw graphError(`${node.op}: ${foreign.name} belongs to another graph`);
    nodes.push(node);
  }

  function appendNode<Type extends DataType>(
    op: string,
    nodeInputs: readonly Value[],
    outputsOf: readonly OutputOf<Type>[],
    attributes: Attributes,
    domain: string,
  ): Value<Type>[] {
    const values = outputsOf.map((output) => named(op, output));
    pushNode({ op, domain, inputs: nodeInputs, outputs: values, attributes });
    return values;
  }

  function emitNode<Type extends DataType>(
    op: string,
    nodeInputs: readonly Value[],
    output: OutputOf<Type>,
    attributes: Attributes,
    domain: string,
  ): Value<Type> {
    return appendNode(op, nodeInputs, [output], attributes, domain)[0]!;
  }

  function constant<Type extends BytesType | "float32" | "int64">(
    dtype: Type,
    data: Float32Array | BigInt64Array | Uint8Array,
    shape: readonly number[],
  ): Value<Type> {
    if (data.length !== elementCount(shape) / (dtype === "uint4" ? 2 : 1)) {
      throw graphError(`a constant of shape [${shape.join(", ")}] was given ${data.length} numbers`);
    }
    const value = { name: `${prefix}constant_${count++}`, dtype, shape, graph };
    initializers.push({ value, data });
    return value;
  }

  /** Equal constants share one, because each is mapped separately and counts as memory again. */
  function storedConstant<Type extends DataType>(
    dtype: Type,
    file: string,
    offset: number,
    shape: readonly number[],
  ): Value<Type> {
    const key = `${file}:${offset}:${dtype}:${shape}`;
    const known = stored.get(key);
    if (known && isOf(dtype)(known)) return known;
    const value = { name: `${prefix}constant_${count++}`, dtype, shape, graph };
    const byteLength = elementCount(shape) * elementBytes[dtype];
    initializers.push({ value, data: { file, offset, byteLength } });
    stored.set(key, value);
    return value;
  }

  /** Returns the size of a named dimension at run time, as an int64 tensor of shape [1]. */
  function sizeOf(name: string): IntValue {
    const source = sizes.get(name);
    if (!source) throw graphError(`the dimension "${name}" appears in no tensor of the graph`);
    const attributes = { start: source.axis, end: source.axis + 1 };
    return emitNode("Shape", [source.value], { dtype: "int64", shape: [1] }, attributes, "");
  }

  function dimensionTensor(dimension: Dimension): IntValue {
    const key = String(dimension);
    const known = shapes.get(key);
    if (known) return known;
    const { coefficient, names } = factorsOf([dimension]);
    const factors = names.map(sizeOf);
    if (coefficient !== 1 || factors.length === 0) factors.push(graph.ints([coefficient]));
    const tensor = factors.reduce((left, right) =>
      emitNode("Mul", [left, right], { dtype: "int64", shape: [1] }, {}, ""),
    );
    shapes.set(key, tensor);
    return tensor;
  }

  function record(
    op: string,
    entryInputs: readonly Value[],
    output: FloatValue,
    attributes: Attributes,
    { saved, rebuild, remake, rule }: Omit<CompositeResult, "output">,
  ) {
    if (hidden > 0) return;
    const floats = entryInputs.filter(isOf("float32"));
    const ints = entryInputs.filter(isOf("int64"));
    const bools = entryInputs.filter(isOf("bool"));
    tape.push({ op, floats, ints, bools, output, attributes, saved, rebuild, remake, rule });
  }

  const graph: Graph = {
    nodes,
    tape,
    initializers,
    inputs,
    outputs,
    captured,
    capture(value) {
      captured.push(value);
      return remember({ ...value, graph });
    },
    get absent(): FloatValue {
      return { name: "", dtype: "float32", shape: [], graph };
    },
    input(name, dtype, shape) {
      if (inputs.some((input) => input.name === name)) throw graphError(`two inputs named "${name}"`);
      const value = { name, dtype, shape, graph };
      inputs.push(value);
      return remember(value);
    },
    floats(data, shape = data.length === 1 ? [] : [data.length]) {
      const key = `float:${shape}:${data.length <= 8 ? data.join() : count}`;
      const known = constants.get(key);
      if (known?.dtype === "float32") return known;
      const made = constant("float32", Float32Array.from(data), shape);
      constants.set(key, made);
      return made;
    },
    bytes: constant,
    storedValue: storedConstant,
    stored(file, offset, shape, dtype = "float32") {
      const value = storedConstant(dtype, file, offset, shape);
      if (isOf("float32")(value)) return value;
      const attributes = { to: 1 };
      return emitNode("Cast", [value], { dtype: "float32", shape }, attributes, "");
    },
    ints(data, shape = [data.length]) {
      const key = `int:${shape}:${data.join()}`;
      const known = constants.get(key);
      if (known?.dtype === "int64") return known;
      const made = constant("int64", BigInt64Array.from(data, BigInt), shape);
      constants.set(key, made);
      return made;
    },
    shapeTensor(shape) {
      const unknown = shape.filter((dimension) => typeof dimension === "string");
      if (unknown.length === 0) return graph.ints(shape.map(Number));
      const key = `[${shape.join()}]`;
      const known = shapes.get(key);
      if (known) return known;
      const parts = shape.map(dimensionTensor);
      const tensor = emitNode("Concat", parts, { dtype: "int64", shape: [shape.length] }, { axis: 0 }, "");
      shapes.set(key, tensor);
      return tensor;
    },
    output(name, value) {
      if (outputs.has(name)) throw graphError(`two outputs named "${name}"`);
      outputs.set(name, value);
    },
    emit(op, nodeInputs, output, attributes = {}, domain = "") {
      const value = remember(emitNode(op, nodeInputs, output, attributes, domain));
      if (isOf("float32")(value)) record(op, nodeInputs, value, attributes, { saved: [] });
      return value;
    },
    emitSeveral(op, nodeInputs, shapesOf, attributes, domain) {
      const outputsOf = shapesOf.map((shape) => ({ dtype: "float32", shape }) as const);
      return appendNode(op, nodeInputs, outputsOf, attributes, domain).map(remember);
    },
    emitWith(op, nodeInputs, outputsOf, attributes = {}, domain = "") {
      const first = remember(named(op, outputsOf.first));
      const others = outputsOf.others.map((output) => remember(named(op, output)));
      pushNode({ op, domain, inputs: nodeInputs, outputs: [first, ...others], attributes });
      return { first, others };
    },
    shares,
    share(name, of, part) {
      shares.set(name, { of, part });
      return name;
    },
    composite(op, compositeInputs, build, attributes = {}) {
      hidden++;
      const result = build();
      hidden--;
      record(op, compositeInputs, result.output, attributes, result);
      return result.output;
    },
  };
  return graph;
}
