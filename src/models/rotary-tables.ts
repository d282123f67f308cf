import type { Graph } from "../onnx/graph.ts";
import type { RotaryTables } from "../onnx/rotary-embedding.ts";
import type { ModelConfig } from "./model-config.ts";
import { rotaryFrequencies } from "./rotary-scaling.ts";

/** Cosines and sines of all positions, in float32 at each step, as `transformers` computes them; times a factor. */
export function rotaryTables(graph: Graph, config: ModelConfig, factor = 1): RotaryTables {
  const { frequencies, scale } = rotaryFrequencies(config.head_dim, config.rope_theta, config.rope_scaling);
  const half = frequencies.length;
  const positions = config.max_position_embeddings;
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
