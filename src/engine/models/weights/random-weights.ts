import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { philox } from "../../../base/random/uniform-stream.ts";
import { elementCount } from "../../onnx/element-count.ts";
import { families } from "../config/families.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { LazyTensor, Tensor } from "./safetensors.ts";
import { allWeightShapes } from "./vision-weights.ts";

/**
 * Returns random weights: normal with the configuration's initializer_range (projections back into the residual stream
 * divided by √(2 · layers), like in GPT-2), norms 1, biases 0. A weight depends only on seed, name and position.
 */
export function randomModelWeights(config: ModelConfig, seed: number): Map<string, Tensor> {
  return new Map(
    [...allWeightShapes(config)].map(([name, shape]) => {
      const data = new Float32Array(elementCount(shape));
      fill(data, 0, data.length, numbersOf(name, shape, config, seed));
      return [name, { shape, data }];
    }),
  );
}

/** Numbers generated at a time, which takes a twelfth of a second. */
const chunk = 2 ** 20;

/**
 * Returns the same weights, each generated when it is needed, in chunks. Other work gets turns, because half a billion
 * takes half a minute.
 */
export function lazyRandomWeights(config: ModelConfig, seed: number): Map<string, LazyTensor> {
  const made = async (name: string, shape: number[]): Promise<Tensor> => {
    const numbers = numbersOf(name, shape, config, seed);
    const data = new Float32Array(elementCount(shape));
    for (let from = 0; from < data.length; from += chunk) {
      fill(data, from, Math.min(from + chunk, data.length), numbers);
      await setImmediate();
    }
    return { shape, data };
  };
  return new Map(
    [...allWeightShapes(config)].map(([name, shape]) => [name, { shape, load: () => made(name, shape) }]),
  );
}

/** Equal numbers, or normal ones that depend only on the keys and their position. */
type Numbers = number | { deviation: number; keys: readonly [number, number] };

function numbersOf(name: string, shape: readonly number[], config: ModelConfig, seed: number): Numbers {
  if (shape.length === 1) return constantOf(name, config);
  const isResidual = /(o_proj|down_proj)\.weight$/.test(name);
  const deviation = config.initializer_range / (isResidual ? Math.sqrt(2 * config.num_hidden_layers) : 1);
  const digest = createHash("sha256").update(`${seed}/${name}`).digest();
  return { deviation, keys: [digest.readUInt32LE(0), digest.readUInt32LE(4)] };
}

/** Returns the constant value of random biases and norms; undefined for other weights. */
export function constantOf(name: string, config: ModelConfig): number {
  return name.endsWith(".bias") || families[config.model_type].gemmaScaling ? 0 : 1;
}

/** Fills numbers from an even position on. Normal numbers come from Box–Muller over Philox, two at a time. */
function fill(data: Float32Array, from: number, to: number, numbers: Numbers): void {
  if (typeof numbers === "number") {
    data.fill(numbers, from, to);
    return;
  }
  const [key0, key1] = numbers.keys;
  for (let at = from; at < to; at += 2) {
    const [a, b] = philox([at / 2, 0, 0, 0], key0, key1);
    const radius = numbers.deviation * Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32));
    const angle = (2 * Math.PI * b) / 2 ** 32;
    data[at] = radius * Math.cos(angle);
    if (at + 1 < to) data[at + 1] = radius * Math.sin(angle);
  }
}
