import { readFileSync } from "node:fs";
import protobuf from "protobufjs";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { type Shape, sameShape } from "./dimensions.ts";
import { elementTypes } from "./element-types.ts";
import { forCuda } from "./for-cuda.ts";
import { forWebgpu } from "./for-webgpu.ts";
import {
  type Attribute,
  type Graph,
  type GraphBody,
  type GraphNode,
  graphError,
  type Initializer,
  type Value,
} from "./graph.ts";
import { inHalfPrecision } from "./half-precision.ts";
import { inParts } from "./in-parts.ts";
import { type Lowering, lowered } from "./lowering.ts";
import { neededNodes, nodesFor } from "./needed-nodes.ts";
import { runtimeDomain } from "./runtime-domain.ts";
import { hasPrecision, type Target } from "./target.ts";

const irVersion = 10;
const opset = 21;

const schema = protobuf.parse(readFileSync(new URL("./onnx.proto", import.meta.url), "utf8"), {
  keepCase: true,
});
const modelProto = schema.root.lookupType("onnx.ModelProto");

/**
 * Returns the graph as the bytes of an ONNX model (opset 21) for a target. Default: float32 on the CPU. Throws
 * ONNX_GRAPH_INVALID for a graph without outputs, DEVICE_UNAVAILABLE for bfloat16 on WebGPU.
 */
export function modelBytes(graph: Graph, target: Target = {}): Uint8Array {
  if (graph.outputs.size === 0) throw graphError("the graph has no outputs");
  const message = modelProto.fromObject({
    ir_version: irVersion,
    producer_name: "everturn",
    opset_import: [
      { domain: "", version: opset },
      { domain: runtimeDomain, version: 1 },
    ],
    // The runtime traverses a graph from its outputs and visits the first nodes last. So with reversed nodes, it runs
    // them in the order in which they were written. Otherwise it would begin everything early and hold the results.
    // Inside of loops, it needs the written order.
    graph: graphProto(graph, writtenNodes(graph, target).toReversed(), new Map()),
  });
  return modelProto.encode(message).finish();
}

/** Returns a graph of these nodes. It may read values of the surrounding graph with the names `outer`. */
function graphProto(
  graph: GraphBody,
  nodes: readonly GraphNode[],
  outer: ReadonlyMap<string, string>,
): object {
  const outputs = [...graph.outputs].map(([name, value]) => ({ name, value }));
  const names = new Map([...outer, ...outputNames(graph, nodes)]);
  const nameOf = ({ name }: Value) => names.get(name) ?? name;
  // The runtime finds no shapes for the results of a part, because its two branches disagree, so they are written here.
  const ofParts = nodes.filter(({ op }) => op === "If").flatMap((node) => node.outputs);
  return {
    name: "everturn",
    node: [
      ...nodes.map((node) => ({
        name: node.outputs[0]?.name ?? node.op,
        op_type: node.op,
        domain: node.domain,
        input: node.inputs.map(nameOf),
        output: node.outputs.map(nameOf),
        attribute: Object.entries(node.attributes).map(([name, value]) => attributeProto(name, value, names)),
      })),
      ...outputs
        .filter(({ name, value }) => nameOf(value) !== name)
        .map(({ name, value }) => ({ name, op_type: "Identity", input: [nameOf(value)], output: [name] })),
    ],
    initializer: graph.initializers.map(({ value, data }) => ({
      name: value.name,
      data_type: elementTypes[value.dtype],
      dims: value.shape.map(Number),
      ...tensorData(data),
    })),
    input: graph.inputs.map((value) => valueInfo(value.name, value)),
    output: outputs.map(({ name, value }) => valueInfo(name, value)),
    value_info: ofParts
      .filter((value) => !graph.outputs.has(nameOf(value)))
      .map((value) => valueInfo(nameOf(value), value)),
  };
}

/** Returns names for values, so that outputs computed by a node are named there and need no copy. */
function outputNames(graph: GraphBody, nodes: readonly GraphNode[]): Map<string, string> {
  const made = new Set(nodes.flatMap(({ outputs }) => outputs.map(({ name }) => name)));
  const names = new Map<string, string>();
  for (const [name, value] of graph.outputs) {
    if (made.has(value.name) && !names.has(value.name)) names.set(value.name, name);
  }
  return names;
}

function writtenNodes(graph: Graph, { device = "cpu", precision = "float32" }: Target): GraphNode[] {
  if (!hasPrecision(device, precision)) {
    const hint = "Use the precision float16, or the device cuda.";
    throw new EverturnError("DEVICE_UNAVAILABLE", { device, reason: `it has no ${precision}`, hint });
  }
  const nodes = neededNodes(graph);
  const typed =
    precision === "float32"
      ? nodes
      : inHalfPrecision(nodes, precision, device === "cpu", graph.outputs.values());
  const needed = precision === "float32" ? nodes : nodesFor(typed, graph.outputs.values());
  if (device === "webgpu") return forWebgpu(needed);
  if (device === "cuda") return fuseSkipNorms(forCuda(needed));
  return inParts(graph, fuseSkipNorms(forCpu(needed)));
}

function tensorData(data: Initializer["data"]) {
  if (!("file" in data)) return { raw_data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
  const { file, offset, byteLength } = data;
  const entries = { location: file, offset: String(offset), length: String(byteLength) };
  const external_data = Object.entries(entries).map(([key, value]) => ({ key, value }));
  return { external_data, data_location: "EXTERNAL" };
}

function valueInfo(name: string, { dtype, shape }: Value) {
  return {
    name,
    type: { tensor_type: { elem_type: elementTypes[dtype], shape: { dim: dimensions(shape) } } },
  };
}

function dimensions(shape: Shape) {
  return shape.map((size) => (typeof size === "number" ? { dim_value: size } : { dim_param: size }));
}

function attributeProto(name: string, value: Attribute, names: ReadonlyMap<string, string>): object {
  if (typeof value === "number") return { name, type: "INT", i: value };
  if (typeof value === "string") return { name, type: "STRING", s: Buffer.from(value) };
  if ("float" in value) return { name, type: "FLOAT", f: value.float };
  if ("body" in value) {
    const { body } = value;
    return { name, type: "GRAPH", g: graphProto(body, neededNodes(body), names) };
  }
  return { name, type: "INTS", ints: value };
}

/** Rewrites nodes that the CPU runs faster in another form. */
function forCpu(nodes: readonly GraphNode[]): GraphNode[] {
  return lowered(nodes, lowerings);
}

const lowerings: Readonly<Record<string, Lowering>> = {
  // The runtime's product reads a transposed first factor column by column, and again for every 128 columns of the
  // second.
  Gemm({ inputs, attributes }, output, append) {
    const [a, ...others] = inputs;
    if (a === undefined || attributes.transA !== 1 || !isWorthCopying(output)) return;
    // With its own shape, which is written if another part of a large graph reads it.
    const transposed = { ...a, name: `${output.name}_transposed`, shape: a.shape.toReversed() };
    append("Transpose", [a], { perm: [1, 0] }, transposed);
    append("Gemm", [transposed, ...others], { ...attributes, transA: 0 }, output);
  },
};

/**
 * A product with few columns reads its first factor only once or twice, and a copy of a large factor (logits) would
 * take much memory.
 */
function isWorthCopying({ shape: [rows, columns] }: Value): boolean {
  return Number(rows) <= 16_384 && Number(columns) >= 256;
}

/** Combines each sum and its norm in one operator that returns both, which saves a call. */
function fuseSkipNorms(nodes: readonly GraphNode[]): GraphNode[] {
  const sums = new Map<Value, GraphNode>();
  for (const node of nodes) if (node.op === "Add") sums.set(node.outputs[0]!, node);
  const fused = new Set<GraphNode>();
  const written = nodes.map((node) => {
    const [x, weight] = node.inputs;
    const sum = x && sums.get(x);
    if (node.op !== "SimplifiedLayerNormalization" || !sum || fused.has(sum)) return node;
    if (node.outputs.length > 1) return node; // for gradients: the combined operator returns no inverse root on the CPU
    if (!sum.inputs.every(({ shape }) => sameShape(shape, x.shape))) return node;
    fused.add(sum);
    const { absent } = x.graph;
    return {
      op: "SkipSimplifiedLayerNormalization",
      domain: runtimeDomain,
      inputs: [...sum.inputs, weight!],
      outputs: [node.outputs[0]!, absent, absent, x],
      attributes: { epsilon: node.attributes.epsilon! },
    };
  });
  return written.filter((node) => !fused.has(node));
}
