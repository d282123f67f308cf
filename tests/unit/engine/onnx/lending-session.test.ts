import { expect, test } from "vitest";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { mul } from "../../../../src/engine/onnx/elementwise.ts";
import { createGraph, type Graph } from "../../../../src/engine/onnx/graph.ts";
import { createLendingSession } from "../../../../src/engine/onnx/lending-session.ts";
import { matMul } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { runtimeFunctions } from "../../../../src/engine/onnx/runtime-functions.ts";

const runtime = (await runtimeFunctions())!;

/** A row doubled and tripled. */
async function open() {
  const graph = createGraph();
  const numbers = graph.input("numbers", "float32", ["count"]);
  graph.output("doubled", mul(numbers, 2));
  graph.output("tripled", mul(numbers, 3));
  return createLendingSession(runtime, graph, modelBytes(graph), { threads: 1 });
}

const feed = (...numbers: number[]) => ({
  numbers: { shape: [numbers.length], data: Float32Array.from(numbers) },
});

test("what passes lend stays as it is until it is released, then it is empty", async () => {
  const session = await open();
  const first = await session.run(feed(1, 2, 3));
  const second = await session.run(feed(4, 5));
  expect([...first.floats("doubled")]).toEqual([2, 4, 6]);
  expect([...second.floats("tripled")]).toEqual([12, 15]);
  expect(second.tensor("tripled").shape).toEqual([2]);
  const doubled = first.floats("doubled");
  first.release();
  first.release();
  expect(doubled).toHaveLength(0);
  expect([...second.floats("doubled")]).toEqual([8, 10]);
  second.release();
  await session.close();
});

test("outputs are written where they are to be, and stay there", async () => {
  const session = await open();
  const memory = new Float32Array(new SharedArrayBuffer(16), 4, 3);
  const outputs = await session.run(feed(1, 2, 3), new Map([["doubled", memory]]));
  expect(outputs.floats("doubled")).toBe(memory);
  expect([...outputs.floats("tripled")]).toEqual([3, 6, 9]);
  outputs.release();
  expect([...memory]).toEqual([2, 4, 6]);
  expect(new Float32Array(memory.buffer)[0]).toBe(0);
  const short = new Map([["tripled", new Float32Array(2)]]);
  await expect(session.run(feed(1, 2, 3), short)).rejects.toThrow("tripled of shape [3] was given 2 numbers");
  expect([...(await session.run(feed(4), new Map())).floats("tripled")]).toEqual([12]);
  await session.close();
});

test("passes at the same time don't mix, and what they read may be dropped by the caller", async () => {
  const session = await open();
  const counts = Array.from({ length: 40 }, (_, count) => count + 1);
  const passes = counts.map((count) => session.run(feed(...new Array<number>(1000).fill(count))));
  for (const [index, pass] of passes.entries()) {
    const outputs = await pass;
    expect(new Set(outputs.floats("tripled"))).toEqual(new Set([3 * (index + 1)]));
    outputs.release();
  }
  await session.close();
});

test("what is missing, unknown or refused by the runtime is named", async () => {
  const session = await open();
  await expect(session.run({})).rejects.toThrow("the input numbers was not fed");
  const short = { numbers: { shape: [3], data: Float32Array.of(1, 2) } };
  await expect(session.run(short)).rejects.toThrow("numbers of shape [3] was given 2 numbers");
  const whole = { numbers: { shape: [1], data: BigInt64Array.of(1n) } };
  await expect(session.run(whole)).rejects.toMatchObject({ code: "ONNX_RUN_FAILED" });
  const outputs = await session.run(feed(1));
  expect(() => outputs.floats("halved")).toThrow("there is no output halved");
  expect(() => outputs.deviceTensor("doubled")).toThrow("not in the device's memory");
  await session.close();
});

/** Some products of a matrix with itself, which take a while. */
const slowGraph = () => {
  const graph = createGraph();
  const matrix = graph.input("matrix", "float32", ["rows", "rows"]);
  graph.output(
    "product",
    [1, 2, 3].reduce((sum) => matMul(sum, matrix), matrix),
  );
  return graph;
};

test.each([
  ["lends", (graph: Graph) => createLendingSession(runtime, graph, modelBytes(graph), { threads: 1 })],
  ["copies", (graph: Graph) => createModelSession(modelBytes(graph), { threads: 1 })],
])("a session that %s is closed when its passes have ended, once, and runs no more", async (_, create) => {
  const session = await create(slowGraph());
  const matrix = { shape: [400, 400], data: new Float32Array(400 * 400).fill(1 / 400) };
  const passes = [1, 2, 3].map(async () => {
    const outputs = await session.run({ matrix });
    const { data } = outputs.tensor("product");
    const ends = [data.length, data[0], data.at(-1)];
    outputs.release();
    return ends;
  });
  let closed = false;
  const closing = session.close().then(() => {
    closed = true;
  });
  const again = session.close();
  await expect(session.run({ matrix })).rejects.toThrow("the session is closed");
  expect(closed).toBe(false);
  for (const ends of await Promise.all(passes)) {
    expect(ends[0]).toBe(400 * 400);
    expect(ends[1]).toBeCloseTo(1 / 400, 6);
    expect(ends[2]).toBeCloseTo(1 / 400, 6);
  }
  await Promise.all([closing, again]);
});

test("however many quick passes follow each other, timers have their turn between them", async () => {
  const session = await open();
  let turns = 0;
  let beating = setImmediate(function beat() {
    turns += 1;
    beating = setImmediate(beat);
  });
  for (let count = 0; count < 40; count++) (await session.run(feed(count))).release();
  clearImmediate(beating);
  expect(turns).toBeGreaterThanOrEqual(30);
  await session.close();
});

test("a model may have as many outputs as a mixture of experts has gradients", async () => {
  const graph = createGraph();
  const numbers = graph.input("numbers", "float32", ["count"]);
  const names = Array.from(
    { length: 3000 },
    (_, at) => `gradient of a matrix with a long name, number ${at}`,
  );
  for (const [at, name] of names.entries()) graph.output(name, mul(numbers, at));
  const session = await createLendingSession(runtime, graph, modelBytes(graph), { threads: 1 });
  for (const given of [3, 5]) {
    const outputs = await session.run(feed(1, given));
    expect(names.map((name) => outputs.floats(name)[1])).toEqual(names.map((_, at) => at * given));
    outputs.release();
  }
  await session.close();
});
