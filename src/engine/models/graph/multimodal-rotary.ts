import { type ModelConfig, rotatedSize } from "../config/model-config.ts";
import { rotaryFrequencies } from "../config/rotary-scaling.ts";
import type { TokenPosition } from "../config/token-positions.ts";
import { rotarySections } from "../config/vision-config.ts";
import type { Tensor } from "../weights/safetensors.ts";

/** Returns the cosines and sines of positions, each [positions, rotated numbers / 2]. */
export function rotationsAt(
  config: ModelConfig,
  positions: readonly TokenPosition[],
): Record<"rotaryCosines" | "rotarySines", Tensor> {
  const { frequencies, scale } = rotaryFrequencies(
    rotatedSize(config),
    config.rope_theta,
    config.rope_scaling,
  );
  const half = frequencies.length;
  const axes = (rotarySections(config) ?? []).flatMap((count, section): number[] =>
    Array.from({ length: count }, () => section % 3),
  );
  const angles = Float32Array.from({ length: positions.length * half }, (_, at) => {
    return positions[Math.floor(at / half)]![axes[at % half]!]! * frequencies[at % half]!;
  });
  const table = (of: (angle: number) => number) => ({
    shape: [positions.length, half],
    data: angles.map((angle) => Math.fround(of(angle)) * scale),
  });
  return { rotaryCosines: table(Math.cos), rotarySines: table(Math.sin) };
}
