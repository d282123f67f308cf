import { expect, test } from "vitest";
import { createSession } from "../../../src/onnx/create-session.ts";
import { add, equal, mul } from "../../../src/onnx/elementwise.ts";
import { createGraph, type FloatValue } from "../../../src/onnx/graph.ts";
import { inParts } from "../../../src/onnx/in-parts.ts";
import { loop } from "../../../src/onnx/loop.ts";
import { modelBytes } from "../../../src/onnx/model-bytes.ts";
import { reshape } from "../../../src/onnx/shaping.ts";

test("a graph of very many nodes is given to the runtime in parts, and computes what it says", async () => {
  const graph = createGraph();
  const start = graph.input("start", "float32", ["rows", 1]);
  const numbers = graph.input("numbers", "int64", ["rows"]);
  const steps: FloatValue[] = [start];
  /** Each from the one before and one of another part; sizes, other types and what a loop takes from around it cross parts too. */
  const isOne = equal(numbers, graph.ints([1], []));
  for (let step = 1; step <= 6000; step++) {
    steps.push(add(mul(steps.at(-1)!, 0.5), steps[Math.max(0, step - 400)]!));
  }
  const [first, last] = [steps[10]!, steps.at(-1)!];
  const { carried } = loop(graph, [graph.ints([3]), "turns"], [last], ({ carried, outer }) => ({
    carried: [add(carried[0]!, outer(first))],
  }));
  graph.output("middle", steps[3000]!);
  graph.output("looped", reshape(carried[0]!, ["rows"]));
  graph.output("isOne", isOne);
  expect(graph.nodes.length).toBeGreaterThan(10_000);
  expect(inParts(graph, graph.nodes).length).toBeLessThan(50);

  const session = await createSession(modelBytes(graph), { threads: 2 });
  for (const rows of [[1], [2, 3, 5]]) {
    const outputs = await session.run({
      start: { shape: [rows.length, 1], data: Float32Array.from(rows) },
      numbers: { shape: [rows.length], data: BigInt64Array.from(rows, BigInt) },
    });
    const wanted = rows.map((row) => {
      const all = [row];
      for (let step = 1; step <= 6000; step++) {
        all.push(Math.fround(Math.fround(all.at(-1)! * 0.5) + all[Math.max(0, step - 400)]!));
      }
      return all;
    });
    expect([...outputs.floats("middle")]).toEqual(wanted.map((all) => all[3000]));
    const added = wanted.map((all) => [1, 2, 3].reduce((sum) => Math.fround(sum + all[10]!), all.at(-1)!));
    expect([...outputs.floats("looped")]).toEqual(added);
    expect(outputs.tensor("isOne").data).toEqual(Uint8Array.from(rows, (row) => Number(row === 1)));
    outputs.release();
  }
  await session.close();
});
