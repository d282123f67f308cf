import { expect, test } from "vitest";
import { createAdamW } from "../../../../src/engine/learning/adamw.ts";
import type { AdamWRoom } from "../../../../src/engine/learning/adamw-memory.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { noise } from "../onnx/finite-differences.ts";

const betas = [0.9, 0.99] as const;
const settings = { learningRate: 0.01, weightDecay: 0.1, betas, gradientScale: 0.5 };

/** AdamW by its definition, in double precision. */
function expectedAfter(start: Float32Array, gradients: Float32Array[], decay: number): Float32Array {
  const [first, second] = [new Float64Array(start.length), new Float64Array(start.length)];
  const data = Float64Array.from(start);
  gradients.forEach((gradient, index) => {
    data.forEach((value, at) => {
      const slope = gradient[at]! * settings.gradientScale;
      first[at] = betas[0] * first[at]! + (1 - betas[0]) * slope;
      second[at] = betas[1] * second[at]! + (1 - betas[1]) * slope ** 2;
      const mean = first[at]! / (1 - betas[0] ** (index + 1));
      const square = second[at]! / (1 - betas[1] ** (index + 1));
      data[at] =
        value * (1 - settings.learningRate * decay) -
        (settings.learningRate * mean) / (Math.sqrt(square) + 1e-8);
    });
  });
  return Float32Array.from(data);
}

test.each([
  ["a bias of 5", [5]],
  ["a matrix of 3 × 4,099: more than a chunk, no multiple of four", [3, 4099]],
])("updates are AdamW's: %s", async (_, shape) => {
  const size = shape.reduce((a, b) => a * b, 1);
  const start = noise(size, 1);
  const gradients = [noise(size, 2), noise(size, 3), noise(size, 4)];
  const parameter = { shape, data: start.slice() };
  const zeros = () => new Float32Array(size);
  const moments = new Map([["w", { bits: 32 as const, first: zeros(), second: zeros() }]]);
  const optimizer = createAdamW(1);
  for (const [index, gradient] of gradients.entries()) {
    const update = { ...settings, update: index + 1 };
    await optimizer.update(new Map([["w", parameter]]), new Map([["w", gradient]]), moments, update);
  }
  const expected = expectedAfter(start, gradients, shape.length > 1 ? settings.weightDecay : 0);
  expect(relativeError(parameter.data, expected)).toBeLessThan(1e-6);
});

test("the norm is that of all gradients together, whatever was worked on before", async () => {
  const optimizer = createAdamW(1);
  const named = (arrays: Float32Array[]) => new Map(arrays.map((array, index) => [`${index}`, array]));
  await optimizer.norm(named([new Float32Array(4096).fill(7)]));
  const gradients = [noise(4099, 1), noise(3, 2), new Float32Array()];
  const squares = gradients.flatMap((gradient) => [...gradient]).reduce((sum, x) => sum + x * x, 0);
  expect(await optimizer.norm(named(gradients))).toBeCloseTo(Math.sqrt(squares), 6);
  expect(await optimizer.norm(named([Float32Array.of(1, Number.NaN)]))).toBeNaN();
});

test("gradients are added to sums of their names", async () => {
  const optimizer = createAdamW(1);
  const [start, gradient] = [noise(70_001, 1), noise(70_001, 2)];
  const sums = new Map([
    ["other", Float32Array.of(1)],
    ["w", start.slice()],
  ]);
  await optimizer.add(sums, new Map([["w", gradient]]));
  expect(sums.get("w")).toEqual(start.map((number, at) => number + gradient[at]!));
  expect(sums.get("other")).toEqual(Float32Array.of(1));
});

const shapes = { matrix: [1003, 701], bias: [701], other: [211, 64] };
const sizes = Object.values(shapes).map((shape) => shape.reduce((a, b) => a * b, 1));
const named = <Value>(make: (size: number, index: number) => Value) =>
  new Map(Object.keys(shapes).map((name, index) => [name, make(sizes[index]!, index)]));

/** The bytes of all that comes of three updates by so many threads, of arrays of which these lie in the optimizer's rooms. */
async function threeUpdates(threads: number, ...inRooms: (keyof AdamWRoom)[]): Promise<Buffer> {
  const optimizer = createAdamW(threads);
  const rooms = inRooms.length > 0 ? optimizer.rooms(sizes) : [];
  const place = (array: Float32Array, index: number, kind: keyof AdamWRoom) => {
    if (!inRooms.includes(kind)) return array;
    rooms[index]![kind].set(array);
    return rooms[index]![kind];
  };
  const shapeOf = Object.values(shapes);
  const parameters = named((size, index) => {
    return { shape: shapeOf[index]!, data: place(noise(size, 10 + index), index, "parameter") };
  });
  const gradients = named((size, index) => place(noise(size, 20 + index), index, "gradient"));
  const moments = named((size, index) => {
    const [first, second] = [place(new Float32Array(size), index, "first"), new Float32Array(size)];
    return { bits: 32 as const, first, second: place(second, index, "second") };
  });
  const sums = named((size, index) => noise(size, 30 + index));
  const norms: number[] = [];
  for (let update = 1; update <= 3; update++) {
    norms.push(await optimizer.norm(gradients));
    await optimizer.add(sums, gradients);
    await optimizer.update(parameters, gradients, moments, { ...settings, update });
    await optimizer.add(gradients, sums);
  }
  await optimizer.close();
  const arrays = [...parameters.values()].map(({ data }) => data);
  arrays.push(...sums.values(), ...gradients.values());
  for (const { first, second } of moments.values()) arrays.push(first, second);
  return Buffer.concat(
    [Float64Array.from(norms), ...arrays].map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    ),
  );
}

test("one, two and three threads give the same to the last bit", async () => {
  const alone = await threeUpdates(1);
  expect((await threeUpdates(2)).equals(alone)).toBe(true);
  expect((await threeUpdates(3)).equals(alone)).toBe(true);
});

test("what lies in rooms becomes what it does elsewhere, to the last bit, by any number of threads", async () => {
  const elsewhere = await threeUpdates(1);
  const state = ["parameter", "first", "second"] as const;
  for (const threads of [1, 2, 3])
    for (const inRooms of [[...state, "gradient"], state, ["gradient"], ["first", "gradient"]] as const)
      expect((await threeUpdates(threads, ...inRooms)).equals(elsewhere), `${threads}, ${inRooms}`).toBe(
        true,
      );
});

test("rooms are of the sizes that were asked for, apart from each other; there is none for what no memory can hold", () => {
  const [small, huge, odd] = createAdamW(1).rooms([5, 2 ** 28, 3]);
  expect(huge).toBeUndefined();
  const arrays = [small!, odd!].flatMap((room) => Object.values(room));
  expect(arrays.map(({ length }) => length)).toEqual([5, 5, 5, 5, 3, 3, 3, 3]);
  for (const [index, array] of arrays.entries()) array.fill(index + 1);
  expect(arrays.map((array) => new Set(array))).toEqual(arrays.map((_, index) => new Set([index + 1])));
});
