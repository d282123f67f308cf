import type { Picture } from "./picture.ts";

/** A filter of Pillow's, by its number there. */
export type Filter = "lanczos" | "bicubic" | "bilinear";

/** The half width of each filter in pixels of the input, and its weights. */
const filters: Record<Filter, { support: number; weight: (x: number) => number }> = {
  lanczos: { support: 3, weight: (x) => (Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0) },
  bicubic: { support: 2, weight: cubic },
  bilinear: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
};

/**
 * Resizes a picture with antialiasing as torchvision resizes images with 8 bits per sample: first rows, then columns,
 * with weights of 16 bits and rounded levels in between. Pillow's results differ by at most one level per pass.
 */
export function resample(picture: Picture, width: number, height: number, filter: Filter): Picture {
  return resampledColumns(resampledRows(picture, width, filter), height, filter);
}

function resampledRows(picture: Picture, width: number, filter: Filter): Picture {
  if (width === picture.width) return picture;
  const { starts, counts, weights, most, precision } = weightsFor(picture.width, width, filter);
  const { height, levels } = picture;
  const made = new Uint8ClampedArray(width * height * 3);
  const half = 1 << (precision - 1);
  for (let y = 0; y < height; y++) {
    const row = y * picture.width * 3;
    for (let x = 0; x < width; x++) {
      let from = row + starts[x]! * 3;
      let red = half;
      let green = half;
      let blue = half;
      for (let at = x * most, end = at + counts[x]!; at < end; at++, from += 3) {
        const weight = weights[at]!;
        red += weight * levels[from]!;
        green += weight * levels[from + 1]!;
        blue += weight * levels[from + 2]!;
      }
      const to = (y * width + x) * 3;
      made[to] = red >> precision;
      made[to + 1] = green >> precision;
      made[to + 2] = blue >> precision;
    }
  }
  return { width, height, levels: made };
}

function resampledColumns(picture: Picture, height: number, filter: Filter): Picture {
  if (height === picture.height) return picture;
  const { starts, counts, weights, most, precision } = weightsFor(picture.height, height, filter);
  const { width, levels } = picture;
  const stride = width * 3;
  const made = new Uint8ClampedArray(stride * height);
  const sums = new Int32Array(stride);
  for (let y = 0; y < height; y++) {
    sums.fill(1 << (precision - 1));
    for (let part = 0; part < counts[y]!; part++) {
      const weight = weights[y * most + part]!;
      const from = (starts[y]! + part) * stride;
      for (let x = 0; x < stride; x++) sums[x]! += weight * levels[from + x]!;
    }
    for (let x = 0; x < stride; x++) made[y * stride + x] = sums[x]! >> precision;
  }
  return { width, height, levels: made };
}

/** For each output pixel: the first input pixel, their count, and `most` weights times 2^precision. */
function weightsFor(input: number, output: number, filter: Filter) {
  const { support, weight } = filters[filter];
  const scale = input / output;
  const stretch = Math.max(scale, 1);
  const reach = support * stretch;
  const most = Math.ceil(reach) * 2 + 1;
  const starts = new Int32Array(output);
  const counts = new Int32Array(output);
  const exact = new Float64Array(output * most);
  let largest = 0;
  for (let at = 0; at < output; at++) {
    const center = scale * (at + 0.5);
    const start = Math.max(Math.trunc(center - reach + 0.5), 0);
    const count = Math.min(Math.min(Math.trunc(center + reach + 0.5), input) - start, most);
    let total = 0;
    for (let part = 0; part < count; part++) {
      const value = weight((part + start - center + 0.5) / stretch);
      exact[at * most + part] = value;
      total += value;
    }
    for (let part = 0; part < count; part++) {
      exact[at * most + part]! /= total;
      largest = Math.max(largest, exact[at * most + part]!);
    }
    starts[at] = start;
    counts[at] = count;
  }
  let precision = 0;
  while (precision < 22 && Math.trunc(0.5 + largest * 2 ** (precision + 1)) < 2 ** 15) precision++;
  const weights = Int32Array.from(exact, (value) =>
    Math.trunc(value * 2 ** precision + Math.sign(value) * 0.5),
  );
  return { starts, counts, weights, most, precision };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** Keys' cubic convolution with a = −0.5. */
function cubic(x: number): number {
  const distance = Math.abs(x);
  if (distance < 1) return (1.5 * distance - 2.5) * distance * distance + 1;
  return distance < 2 ? ((-0.5 * distance + 2.5) * distance - 4) * distance + 2 : 0;
}
