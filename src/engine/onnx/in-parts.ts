import { elementTypes } from "./element-types.ts";
import { createGraph, type Graph, type GraphBody, type GraphNode, readsOf, type Value } from "./graph.ts";

/** The most nodes that the runtime prepares quickly in one piece, and the size of the pieces for larger graphs. */
const usual = { most: 10_000, each: 300 };

/**
 * Returns the nodes of a graph. If there are many, returns parts of `each` nodes as bodies of nodes that always run
 * them. The runtime plans the memory of a graph and of each body separately, in a time that grows with the square of
 * their nodes (in ONNX Runtime 1.30). For a mixture of experts that takes seconds instead of minutes.
 */
export function inParts(graph: Graph, nodes: readonly GraphNode[], { most, each } = usual): GraphNode[] {
  const [condition, ...asked] = nodes.length > most ? alwaysTrue(graph) : [];
  if (!condition) return [...nodes];
  const read = new Set<Value>(graph.outputs.values());
  const starts = Array.from({ length: Math.ceil(nodes.length / each) }, (_, part) => part * each);
  const parts = starts.toReversed().map((start): GraphNode => {
    const part = nodes.slice(start, start + each);
    const outputs = part.flatMap((node) => node.outputs).filter((value) => read.has(value));
    for (const value of part.flatMap(readsOf)) read.add(value);
    const attributes = {
      then_branch: { body: bodyOf(part, outputs) },
      else_branch: { body: nothing(outputs) },
    };
    return { op: "If", domain: "", inputs: [condition], outputs, attributes };
  });
  return [...asked, ...parts.reverse()];
}

/**
 * Returns a condition that is always true, which the runtime can't know in advance, and its nodes. Returns nothing if
 * all sizes are known in advance.
 */
function alwaysTrue(graph: Graph): [Value, ...GraphNode[]] | [] {
  const axisOf = ({ shape }: Value) => shape.findIndex((dimension) => typeof dimension === "string");
  const input = graph.inputs.find((value) => axisOf(value) >= 0);
  if (!input) return [];
  const size: Value = { name: "someSize", dtype: "int64", shape: [1], graph };
  const equal: Value = { name: "sizeIsItself", dtype: "bool", shape: [1], graph };
  const attributes = { start: axisOf(input), end: axisOf(input) + 1 };
  return [
    equal,
    { op: "Shape", domain: "", inputs: [input], outputs: [size], attributes },
    { op: "Equal", domain: "", inputs: [size, size], outputs: [equal], attributes: {} },
  ];
}

function bodyOf(nodes: readonly GraphNode[], outputs: readonly Value[]): GraphBody {
  const named = new Map(outputs.map((value) => [`${value.name}_inside`, value]));
  return { nodes, outputs: named, inputs: [], initializers: [], captured: [], shares: new Map() };
}

/** Returns the result of a part that isn't run. */
function nothing(outputs: readonly Value[]): GraphBody {
  const body = createGraph(`${outputs[0]?.name}_otherwise_`);
  for (const { name, dtype } of outputs) {
    const output = { dtype, shape: [0] };
    const attributes = { to: elementTypes[dtype] };
    body.output(`${name}_otherwise`, body.emit("Cast", [body.floats([], [0])], output, attributes));
  }
  return body;
}
