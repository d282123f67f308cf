import { createBoundSession } from "./bound-session.ts";
import { createGraph, type Graph } from "./graph.ts";
import { groupQueryAttention } from "./group-query-attention.ts";
import { modelBytes } from "./model-bytes.ts";
import { requireDevice } from "./require-device.ts";
import type { RuntimeFunctions } from "./runtime-functions.ts";

/** The numbers of heads of queries and of keys and values, and their size, a multiple of 16. */
export interface Heads {
  readonly heads: number;
  readonly groups: number;
  readonly size: number;
}

/** The number of tokens to test with. From 32 on the operator uses another kernel. */
const length = 64;

/** Results on this machine, by heads. */
const known = new Map<string, boolean>();

/**
 * Whether the runtime's attention operator returns the same for 64 tokens on WebGPU's card as on the CPU. On
 * SwiftShader, whose groups of threads are small, it does not. Throws DEVICE_UNAVAILABLE, or ONNX_SESSION_FAILED
 * without a card.
 */
export function attendsOnWebgpu(runtime: RuntimeFunctions, heads: Heads): boolean {
  const key = Object.values(heads).join();
  const found = known.get(key) ?? isRight(runtime, heads);
  known.set(key, found);
  return found;
}

function isRight(runtime: RuntimeFunctions, heads: Heads): boolean {
  requireDevice("webgpu");
  const graph = attentionGraph(heads);
  const expected = attentionOn(runtime, heads, graph, "cpu");
  const actual = attentionOn(runtime, heads, graph, "webgpu");
  return actual.every((value, at) => Math.abs(value - expected[at]!) < 1e-3);
}

/** Returns a graph of attention for the first tokens of a sequence. */
function attentionGraph({ heads, groups, size }: Heads): Graph {
  const graph = createGraph();
  const rows = (name: string, width: number) => graph.input(name, "float32", [1, length, width]);
  const kept = (name: string) => graph.input(name, "float32", [1, groups, length, size]);
  const parts = [rows("q", heads * size), rows("k", groups * size), rows("v", groups * size)] as const;
  const { attended, keys, values } = groupQueryAttention(parts, {
    heads,
    groups,
    keys: kept("keys"),
    values: kept("values"),
    lastPositions: graph.input("lastPositions", "int32", [1]),
    total: graph.input("total", "int32", [1]),
    scale: 1 / Math.sqrt(size),
    cap: null,
  });
  graph.output("attended", attended);
  graph.output("newKeys", keys);
  graph.output("newValues", values);
  return graph;
}

/** Returns a device's result for numbers between −1 and 1. */
function attentionOn(
  runtime: RuntimeFunctions,
  { heads, groups, size }: Heads,
  graph: Graph,
  device: "cpu" | "webgpu",
): Float32Array {
  const session = createBoundSession(runtime, modelBytes(graph, { device }), { threads: 1, device });
  try {
    const bindings = session.bindings();
    const input = (name: string, shape: number[], data: Float32Array | Int32Array) =>
      bindings.keepInput(name, { shape, data });
    const numbers = (name: string, width: number, start: number) => {
      const data = Float32Array.from({ length: length * width }, (_, at) =>
        Math.sin(start + 1.7 * at + 0.01 * at * at),
      );
      input(name, [1, length, width], data);
    };
    numbers("q", heads * size, 1);
    numbers("k", groups * size, 2);
    numbers("v", groups * size, 3);
    for (const [before, after] of [
      ["keys", "newKeys"],
      ["values", "newValues"],
    ] as const) {
      const memory = { shape: [1, groups, length, size], data: new Float32Array(length * groups * size) };
      bindings.keepInput(before, memory);
      bindings.bindOutput(after, memory);
    }
    input("lastPositions", [1], Int32Array.of(length - 1));
    input("total", [1], Int32Array.of(length));
    const output = new Float32Array(length * heads * size);
    bindings.bindOutput("attended", { shape: [1, length, heads * size], data: output });
    bindings.run();
    return output;
  } finally {
    session.close();
  }
}
