// Prints the most operations a second that ONNX Runtime's product of two large matrices comes to here. Argument: threads.
import { createBoundSession } from "../../src/engine/onnx/bound-session.ts";
import { createGraph } from "../../src/engine/onnx/graph.ts";
import { gemm } from "../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../src/engine/onnx/model-bytes.ts";
import { runtimeFunctions } from "../../src/engine/onnx/runtime-functions.ts";

const size = 2048;
const [threads = "2"] = process.argv.slice(2);
const runtime = await runtimeFunctions();
if (!runtime) throw new Error("the runtime's C API can't be called here");
const shape = [size, size];
const graph = createGraph();
graph.output("c", gemm(graph.input("a", "float32", shape), graph.input("b", "float32", shape)));
const session = createBoundSession(runtime, modelBytes(graph, {}), { threads: Number(threads) });
const bindings = session.bindings();
const matrix = () => ({ shape, data: Float32Array.from({ length: size * size }, (_, at) => Math.sin(at)) });
const [a, b, c] = [matrix(), matrix(), matrix()];
bindings.bindInput("a", a);
bindings.bindInput("b", b);
bindings.bindOutput("c", c);
const seconds = Array.from({ length: 12 }, () => {
  const start = performance.now();
  bindings.run();
  return (performance.now() - start) / 1000;
});
session.close();
console.log(JSON.stringify({ operationsPerSecond: (2 * size ** 3) / Math.min(...seconds), seconds }));
