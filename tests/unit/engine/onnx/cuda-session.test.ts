import { expect, test } from "vitest";
import { createCudaSession } from "../../../../src/engine/onnx/cuda-session.ts";
import { add, mul } from "../../../../src/engine/onnx/elementwise.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { processorAsCard } from "../../../support/processor-as-card.ts";

/** y = 2 x + 1 and z = 3 x, with z kept on the card. */
async function open() {
  const { runtime } = await processorAsCard();
  const graph = createGraph();
  const x = graph.input("x", "float32", ["rows", 2]);
  graph.output("y", add(mul(x, 2), 1));
  graph.output("z", mul(x, 3));
  return createCudaSession(runtime, modelBytes(graph), { keptOnDevice: ["z"] });
}

const x = { shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) };

test("what stays on the card is fed to the next pass as it is, and the rest comes back", async () => {
  const session = await open();
  const outputs = await session.run({ x });
  expect(outputs.tensor("y")).toEqual({ shape: [2, 2], data: Float32Array.of(3, 5, 7, 9) });
  const kept = outputs.deviceTensor("z");
  expect(kept.shape).toEqual([2, 2]);
  const next = await session.run({ x: kept }, ["y"]);
  expect(next.floats("y")).toEqual(Float32Array.of(7, 13, 19, 25));
  kept.dispose();
  await session.close();
});

test("what is wrong with a pass is said by name", async () => {
  const session = await open();
  await expect(session.run({})).rejects.toThrow("the input x was not fed");
  await expect(session.run({ x, w: x })).rejects.toThrow("the model has no input w");
  const short = { ...x, data: new Float32Array(3) };
  await expect(session.run({ x: short })).rejects.toThrow("x of shape [2, 2] was given 3 numbers");
  const outputs = await session.run({ x });
  expect(() => outputs.tensor("z")).toThrow("the output z is in the device's memory");
  expect(() => outputs.deviceTensor("y")).toThrow("the output y is not in the device's memory");
  expect(() => outputs.tensor("w")).toThrow("there is no output w");
  outputs.deviceTensor("z").dispose();
  await session.close();
  await expect(session.run({ x })).rejects.toMatchObject({ code: "ONNX_RUN_FAILED" });
});
