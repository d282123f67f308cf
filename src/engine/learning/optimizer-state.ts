import type { ByteTensor, Tensor } from "../models/weights/safetensors.ts";
import { elementCount } from "../onnx/element-count.ts";
import type { Moments } from "./adamw-rows.ts";
import { momentBlock } from "./moment-codes.ts";

/**
 * Adam's moments in their saved form: `first/<parameter>` and `second/<parameter>`, as numbers or as 8-bit codes. Codes
 * also have `scales/first/<parameter>` and so on, one scale per block of 256 numbers.
 */
export type OptimizerState = Map<string, Tensor | ByteTensor>;

/** Adam's moments. */
export const momentKinds = ["first", "second"] as const;

/**
 * Smaller parameters keep 32-bit moments, because they take little memory and norms are sensitive. As in bitsandbytes.
 */
const smallestQuantized = 4096;

/**
 * The rows of an embedding differ in size, because tokens differ in frequency, so they keep 32 bits too (arXiv
 * 2110.02861). So do the positions of patches, which are an embedding in `transformers`.
 */
const embedding = /(embed_tokens|position_embedding)\.weight$/;

function isQuantized(name: string, count: number, bits: 8 | 32): boolean {
  return bits === 8 && count >= smallestQuantized && !embedding.test(name);
}

/** Returns the bytes of the moments of a parameter with `count` numbers. */
export function momentBytes(name: string, count: number, bits: 8 | 32): number {
  const bytes = isQuantized(name, count, bits) ? count + 4 * Math.ceil(count / momentBlock) : 4 * count;
  return momentKinds.length * bytes;
}

/** Returns zeroed moments. Only large matrices get `bits`. */
export function freshMoments(parameters: ReadonlyMap<string, Tensor>, bits: 8 | 32): OptimizerState {
  const state: OptimizerState = new Map();
  for (const [name, { shape }] of parameters) {
    const count = elementCount(shape);
    for (const kind of momentKinds) {
      if (!isQuantized(name, count, bits)) {
        state.set(`${kind}/${name}`, { shape, data: new Float32Array(count) });
        continue;
      }
      const blocks = Math.ceil(count / momentBlock);
      state.set(`${kind}/${name}`, { shape, data: new Uint8Array(count) });
      state.set(scalesName(kind, name), { shape: [blocks], data: new Float32Array(blocks) });
    }
  }
  return state;
}

/** Returns the moments in a state, by parameter. They share its memory. Parameters without valid ones are omitted. */
export function momentsIn(
  state: OptimizerState,
  parameters: ReadonlyMap<string, Tensor>,
): Map<string, Moments> {
  const moments = new Map<string, Moments>();
  for (const [name, { shape }] of parameters) {
    const tensors = momentKinds.map((kind) => state.get(`${kind}/${name}`));
    const [first, second] = tensors.map((tensor) =>
      tensor?.shape.join() === shape.join() ? tensor : undefined,
    );
    if (first?.data instanceof Float32Array && second?.data instanceof Float32Array) {
      moments.set(name, { bits: 32, first: first.data, second: second.data });
      continue;
    }
    const blocks = Math.ceil(elementCount(shape) / momentBlock);
    const [firstScales, secondScales] = momentKinds.map((kind) => state.get(scalesName(kind, name))?.data);
    const areScales = (data: ArrayLike<number> | undefined): data is Float32Array =>
      data instanceof Float32Array && data.length === blocks;
    if (!(first?.data instanceof Uint8Array && second?.data instanceof Uint8Array)) continue;
    if (!areScales(firstScales) || !areScales(secondScales)) continue;
    moments.set(name, {
      bits: 8,
      first: { codes: first.data, scales: firstScales },
      second: { codes: second.data, scales: secondScales },
    });
  }
  return moments;
}

/** Returns the configured bits per number for large matrices. */
export function bitsOf(state: OptimizerState): 8 | 32 {
  return [...state.values()].some(({ data }) => data instanceof Uint8Array) ? 8 : 32;
}

/** Returns the moments if all are numbers; undefined if some are codes. */
export function momentsInNumbers(state: OptimizerState): Map<string, Tensor> | undefined {
  const numbers = new Map<string, Tensor>();
  for (const [name, { shape, data }] of state) {
    if (data instanceof Uint8Array) return undefined;
    numbers.set(name, { shape, data });
  }
  return numbers;
}

function scalesName(kind: (typeof momentKinds)[number], name: string): string {
  return `scales/${kind}/${name}`;
}
