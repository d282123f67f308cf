import { afterAll, beforeAll } from "vitest";
import { useSwiftShader } from "../../src/engine/devices/swiftshader.ts";
import { createModelSession } from "../../src/engine/onnx/create-model-session.ts";
import { add } from "../../src/engine/onnx/elementwise.ts";
import { createGraph } from "../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../src/engine/onnx/model-bytes.ts";
import type { ModelSession } from "../../src/engine/onnx/model-session.ts";

/** Has the tests of a file run WebGPU over SwiftShader, with a session that is open all the while: with the last one all shaders go, which are compiled in software. */
export function keepSwiftShader(): void {
  let kept: ModelSession;
  beforeAll(async () => {
    await useSwiftShader();
    const graph = createGraph();
    graph.output("sum", add(graph.input("number", "float32", [1]), 1));
    kept = await createModelSession(modelBytes(graph), { device: "webgpu" });
  });
  afterAll(() => kept?.close());
}
