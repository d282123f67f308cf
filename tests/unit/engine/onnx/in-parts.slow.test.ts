import { expect, test } from "vitest";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { add, equal, mul } from "../../../../src/engine/onnx/elementwise.ts";
import { createGraph, type FloatValue } from "../../../../src/engine/onnx/graph.ts";
import { inParts } from "../../../../src/engine/onnx/in-parts.ts";
import { gather } from "../../../../src/engine/onnx/indexing.ts";
import { loop } from "../../../../src/engine/onnx/loop.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { sequenceAttention, sequenceLengths } from "../../../../src/engine/onnx/sequence-attention.ts";
import { reshape } from "../../../../src/engine/onnx/shaping.ts";

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
  const { carried: results } = loop(graph, [graph.ints([3]), "turns"], [last], ({ carried, outer }) => ({
    carried: [add(carried[0]!, outer(first))],
  }));
  graph.output("middle", steps[3000]!);
  graph.output("looped", reshape(results[0]!, ["rows"]));
  graph.output("isOne", isOne);
  expect(graph.nodes.length).toBeGreaterThan(10_000);
  expect(inParts(graph, graph.nodes).length).toBeLessThan(50);

  const session = await createModelSession(modelBytes(graph), { threads: 2 });
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

test("attention whose values are of another part than its queries and keys gives what it gives in a whole graph", async () => {
  const [queryRows, keyRows] = [16, 8].map((width) =>
    Float32Array.from({ length: 20 * width }, (_, at) => (at * width) % 7),
  );
  /** Queries are doubled and halved so often: with many times, what follows is in a later part than the values. */
  const attended = async (times: number) => {
    const graph = createGraph();
    const x = graph.input("x", "float32", ["rows", 16]);
    const y = graph.input("y", "float32", ["rows", 8]);
    const places = graph.input("places", "int64", ["batch", "length"]);
    const values = gather(add(y, 1), places);
    let rows = x;
    for (let time = 0; time < times; time++) rows = mul(mul(rows, 0.5), 2);
    const lengths = sequenceLengths(graph, "batch", "length");
    const options = { heads: 2, groups: 1, scale: 1 };
    const keys = gather(reshape(mul(reshape(y, ["rows", 1, 8]), 2), ["rows", 8]), places);
    // Reshaped, as rotated ones are: so the runtime knows their width where it may not know that of values.
    const queries = gather(reshape(mul(reshape(rows, ["rows", 1, 16]), 3), ["rows", 16]), places);
    const first = sequenceAttention([queries, keys, values], lengths, options);
    const again = gather(reshape(first, ["batch*length", 16]), places);
    graph.output("attended", add(sequenceAttention([again, values, values], lengths, options), first));
    const session = await createModelSession(modelBytes(graph), { threads: 2 });
    const outputs = await session.run({
      x: { shape: [20, 16], data: queryRows! },
      y: { shape: [20, 8], data: keyRows! },
      places: { shape: [4, 5], data: BigInt64Array.from({ length: 20 }, (_, at) => BigInt(at)) },
    });
    const all = [...outputs.floats("attended")];
    outputs.release();
    await session.close();
    return all;
  };
  expect(await attended(5001)).toEqual(await attended(1));
});
