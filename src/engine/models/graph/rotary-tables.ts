import type { Graph } from "../../onnx/graph.ts";
import type { RotaryTables } from "../../onnx/rotary-embedding.ts";
import { contextLength, type ModelConfig, rotatedSize } from "../config/model-config.ts";
import { type RotaryScaling, rotaryFrequencies } from "../config/rotary-scaling.ts";
import { rotarySections } from "../config/vision-config.ts";

/** Returns the rotations of a layer; undefined if it has none. */
export type LayerRotations = (layer: number) => RotaryTables | undefined;

/**
 * Returns cosines and sines of all positions, multiplied by a factor. Computed in float32 at each step like in
 * `transformers`. The tables are created when a layer first needs them.
 */
export function rotaryTables(graph: Graph, config: ModelConfig, factor = 1): LayerRotations {
  if (rotarySections(config)) return fedRotations(graph, config);
  const made = new Map<boolean, RotaryTables>();
  return (layer) => {
    if (config.no_rope_layers?.[layer] === 0) return undefined;
    const local = config.layer_types[layer] === "sliding_attention" ? config.local_rope : null;
    const { rope_theta, rope_scaling } = local ?? config;
    const tables = made.get(local !== null) ?? tablesOf(graph, config, rope_theta, rope_scaling, factor);
    made.set(local !== null, tables);
    return tables;
  };
}

/** Rotations by three axes are inputs, and positions are their row numbers. */
function fedRotations(graph: Graph, config: ModelConfig): LayerRotations {
  const shape = ["rotations", rotatedSize(config) / 2];
  const cosines = graph.input("rotaryCosines", "float32", shape);
  const sines = graph.input("rotarySines", "float32", shape);
  return () => ({ cosines, sines });
}

function tablesOf(
  graph: Graph,
  config: ModelConfig,
  theta: number,
  scaling: RotaryScaling,
  factor: number,
): RotaryTables {
  const { frequencies, scale } = rotaryFrequencies(rotatedSize(config), theta, scaling);
  const half = frequencies.length;
  const positions = contextLength(config);
  const angles = Float32Array.from({ length: positions * half }, (_, at) => {
    return Math.floor(at / half) * frequencies[at % half]!;
  });
  const table = (of: (angle: number) => number) =>
    graph.floats(
      angles.map((angle) => Math.fround(of(angle)) * scale * factor),
      [positions, half],
    );
  return { cosines: table(Math.cos), sines: table(Math.sin) };
}
