import { expect, test } from "vitest";
import { createBoundSession } from "../../../../src/engine/onnx/bound-session.ts";
import { mul } from "../../../../src/engine/onnx/elementwise.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { gather } from "../../../../src/engine/onnx/indexing.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { runtimeFunctions } from "../../../../src/engine/onnx/runtime-functions.ts";

const runtime = (await runtimeFunctions())!;

/** Rows of a table by their numbers, doubled. */
async function open() {
  const graph = createGraph();
  const rows = graph.input("rows", "int64", ["count"]);
  graph.output("doubled", mul(gather(graph.floats([1, 2, 3, 4, 5, 6], [3, 2]), rows), 2));
  return createBoundSession(runtime, modelBytes(graph), { threads: 1 });
}

test("passes read and write the memory that was bound, until other memory is", async () => {
  const session = await open();
  const bindings = session.bindings();
  const rows = BigInt64Array.of(2n, 0n);
  const doubled = new Float32Array(4);
  bindings.bindInput("rows", { shape: [2], data: rows });
  bindings.bindOutput("doubled", { shape: [2, 2], data: doubled });
  bindings.run();
  expect([...doubled]).toEqual([10, 12, 2, 4]);
  rows[1] = 1n;
  bindings.run();
  expect([...doubled]).toEqual([10, 12, 6, 8]);

  const others = session.bindings();
  const one = new Float32Array(2);
  others.bindInput("rows", { shape: [1], data: BigInt64Array.of(0n) });
  others.bindOutput("doubled", { shape: [1, 2], data: one });
  others.run();
  expect([...one]).toEqual([2, 4]);
  rows[0] = 0n;
  bindings.run();
  expect([...doubled]).toEqual([2, 4, 6, 8]);

  others.bindInput("rows", { shape: [1], data: BigInt64Array.of(1n) });
  others.run();
  expect([...one]).toEqual([6, 8]);
  session.close();
});

test("what was closed is used no more", async () => {
  const session = await open();
  const bindings = session.bindings();
  const tensor = { shape: [1], data: BigInt64Array.of(0n) };
  bindings.bindInput("rows", tensor);
  bindings.bindOutput("doubled", { shape: [1, 2], data: new Float32Array(2) });
  session.close();
  session.close();
  expect(() => bindings.run()).toThrow("the session is closed");
  expect(() => bindings.bindInput("rows", tensor)).toThrow("the session is closed");
  expect(() => session.bindings()).toThrow("the session is closed");
});

test("memory of the wrong size, and what the runtime refuses, is an error that says so", async () => {
  const session = await open();
  const bindings = session.bindings();
  const rows = BigInt64Array.of(3n, 0n);
  bindings.bindInput("rows", { shape: [2], data: rows });
  expect(() => bindings.bindOutput("doubled", { shape: [2, 2], data: new Float32Array(3) })).toThrow(
    "doubled of shape [2, 2] was given 3 numbers",
  );
  bindings.bindOutput("doubled", { shape: [2, 2], data: new Float32Array(4) });
  expect(() => bindings.run()).toThrow("out of data bounds");
  rows[0] = 0n;
  bindings.bindOutput("doubled", { shape: [1, 2], data: new Float32Array(2) });
  expect(() => bindings.run()).toThrow();
  expect(() => bindings.bindInput("columns", { shape: [2], data: rows })).toThrow("columns");
  session.close();
  expect(() => createBoundSession(runtime, new Uint8Array(8), { threads: 1 })).toThrow(
    "ONNX Runtime rejected a model",
  );
});
