import { expect, test } from "vitest";
import {
  floatsToBytes,
  halfValues,
  widenInPlace,
} from "../../../../src/engine/models/weights/float-types.ts";

/** The 16 bits that each number is written as. */
function narrow(numbers: Float32Array, type: "F16" | "BF16"): number[] {
  const bytes = floatsToBytes(numbers, type);
  return [...new Uint16Array(bytes.buffer, bytes.byteOffset, numbers.length)];
}

test("every float16 survives being widened and written", () => {
  const bits = narrow(halfValues, "F16");
  const lost = bits.filter((found, at) => found !== at && !Number.isNaN(halfValues[at]));
  expect(lost).toEqual([]);
  expect(bits.filter((found) => Number.isNaN(halfValues[found])).length).toBe(2 * 1023);
});

test("float16 is rounded to nearest, to even at a tie, and to infinity past its end", () => {
  const step = 2 ** -10;
  const numbers = [1 + step / 2, 1 + 1.5 * step, 1 + step / 2 + 2 ** -23, 65519, 65520, -1e30];
  const rounded = narrow(Float32Array.from(numbers), "F16").map((bits) => halfValues[bits]);
  expect(rounded).toEqual([
    1,
    1 + 2 * step,
    1 + step,
    65504,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]);
  const tiny = [2 ** -25, 2 ** -25 * 1.0001, 3 * 2 ** -25, -(2 ** -24), -1e-30];
  const smallest = narrow(Float32Array.from(tiny), "F16").map((bits) => halfValues[bits]);
  expect(smallest).toEqual([0, 2 ** -24, 2 ** -23, -(2 ** -24), -0]);
});

test("bfloat16 is rounded to nearest, to even at a tie; a NaN stays one", () => {
  const step = 2 ** -7;
  const numbers = Float32Array.of(1 + step / 2, 1 + 1.5 * step, -3.140625, 3.4e38, Number.NaN);
  const bits = narrow(numbers, "BF16");
  const widened = new Float32Array(numbers.length);
  new Uint16Array(widened.buffer).set(bits, numbers.length);
  widenInPlace(widened, "BF16");
  const infinity = Number.POSITIVE_INFINITY;
  expect([...widened]).toEqual([1, 1 + 2 * step, -3.140625, infinity, Number.NaN]);
});
