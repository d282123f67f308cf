import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelConfig } from "../../src/engine/models/config/model-config.ts";
import { writeWeights } from "../../src/engine/models/weights/checkpoint.ts";
import { type Quantization, quantizeWeights } from "../../src/engine/models/weights/quantize.ts";
import { quantizedTensors } from "../../src/engine/models/weights/quantized-tensors.ts";
import { randomModelWeights } from "../../src/engine/models/weights/random-weights.ts";

/** A folder with random weights of a model in few bits, in several files. */
export async function quantizedFolder(config: ModelConfig, quantization: Quantization): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), "everturn-quantized-")), "policy");
  await mkdir(folder);
  const { tensors, quantized } = await quantizeWeights(randomModelWeights(config, 1), quantization);
  await writeWeights(folder, new Map([...tensors, ...quantizedTensors(quantized)]), { shardBytes: 30_000 });
  return folder;
}
