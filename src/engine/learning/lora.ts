import { createHash } from "node:crypto";
import { philox } from "../../base/random/uniform-stream.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { DecoderAdapter } from "../models/graph/decoder-blocks.ts";
import { fusedModule, modelWeightShapes } from "../models/weights/model-weights.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import type { FloatValue } from "../onnx/graph.ts";

/** Low-rank adaptation (arXiv 2106.09685): W x + alpha / rank · B A x. Only A and B are trained. */
export interface LoraSettings {
  rank: number;
  alpha: number;
  /**
   * The last parts of the names of the adapted linear maps, such as "q_proj". If a family combines several maps in one
   * (Phi's qkv_proj), naming one of them adapts the combined map.
   */
  targets: readonly string[];
}

/**
 * Returns the shapes of an adapter's matrices by PEFT's names without their prefix. A is [rank, in], B is [out, rank].
 */
export function adapterShapes(config: ModelConfig, { rank, targets }: LoraSettings): Map<string, number[]> {
  const shapes = new Map<string, number[]>();
  const adapted = new Set(targets.map((target) => fusedModule(config, target) ?? target));
  for (const [name, [output, input]] of modelWeightShapes(config)) {
    const module = moduleOf(name);
    if (input === undefined || !adapted.has(module.split(".").at(-1)!)) continue;
    shapes.set(`${module}.lora_A.weight`, [rank, input]);
    shapes.set(`${module}.lora_B.weight`, [output!, rank]);
  }
  return shapes;
}

/**
 * Returns an adapter that changes nothing yet, initialized like PEFT's: A uniform within ±1/√in, B zero. A number
 * depends only on the seed, its matrix's name and its position.
 */
export function freshAdapter(config: ModelConfig, settings: LoraSettings, seed: number): Map<string, Tensor> {
  return new Map(
    [...adapterShapes(config, settings)].map(([name, shape]) => {
      const [rows, columns] = shape;
      const data = new Float32Array(rows! * columns!);
      if (name.endsWith("lora_A.weight")) fillUniform(data, 1 / Math.sqrt(columns!), `${seed}/${name}`);
      return [name, { shape, data }];
    }),
  );
}

/** Applies the adapter inside a graph. Its matrices are given by name. */
export function decoderAdapter(
  { rank, alpha }: LoraSettings,
  matrices: ReadonlyMap<string, FloatValue>,
): DecoderAdapter {
  const modules = [...matrices.keys()].filter((name) => name.endsWith(".lora_A.weight")).map(moduleOf);
  const pairs = modules.map((module) => {
    const base = module.slice(0, -".lora_A".length);
    return [
      base,
      { a: matrices.get(`${base}.lora_A.weight`)!, b: matrices.get(`${base}.lora_B.weight`)! },
    ] as const;
  });
  return { scale: alpha / rank, pairs: new Map(pairs) };
}

function moduleOf(name: string): string {
  return name.slice(0, name.lastIndexOf("."));
}

function fillUniform(numbers: Float32Array, bound: number, key: string): void {
  const digest = createHash("sha256").update(key).digest();
  const [key0, key1] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
  for (let at = 0; at < numbers.length; at++) {
    numbers[at] = bound * (2 * (philox([at, 0, 0, 0], key0, key1)[0] / 2 ** 32) - 1);
  }
}
