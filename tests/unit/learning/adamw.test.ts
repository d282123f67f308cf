import { expect, test } from "vitest";
import { createAdamW } from "../../../src/learning/adamw.ts";
import { noise } from "../onnx/finite-differences.ts";
import { relativeError } from "../torch-fixtures.ts";

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
])("updates are AdamW's: %s", (_, shape) => {
  const size = shape.reduce((a, b) => a * b, 1);
  const start = noise(size, 1);
  const gradients = [noise(size, 2), noise(size, 3), noise(size, 4)];
  const parameter = { shape, data: start.slice() };
  const moments = {
    first: new Map([["w", new Float32Array(size)]]),
    second: new Map([["w", new Float32Array(size)]]),
  };
  const optimizer = createAdamW();
  gradients.forEach((gradient, index) => {
    const update = { ...settings, update: index + 1 };
    optimizer.update(new Map([["w", parameter]]), new Map([["w", gradient]]), moments, update);
  });
  const expected = expectedAfter(start, gradients, shape.length > 1 ? settings.weightDecay : 0);
  expect(relativeError(parameter.data, expected)).toBeLessThan(1e-6);
});

test("the norm is that of all gradients together, whatever was worked on before", () => {
  const optimizer = createAdamW();
  optimizer.norm([new Float32Array(4096).fill(7)]);
  const gradients = [noise(4099, 1), noise(3, 2), new Float32Array()];
  const squares = gradients.flatMap((gradient) => [...gradient]).reduce((sum, x) => sum + x * x, 0);
  expect(optimizer.norm(gradients)).toBeCloseTo(Math.sqrt(squares), 6);
  expect(optimizer.norm([Float32Array.of(1, Number.NaN)])).toBeNaN();
});
