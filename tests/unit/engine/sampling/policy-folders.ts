import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { formatModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import {
  type ByteTensor,
  type Tensor,
  writeSafetensors,
} from "../../../../src/engine/models/weights/safetensors.ts";

const root = await mkdtemp(join(tmpdir(), "everturn-sampler-"));
let count = 0;

/** A new folder with a model's config.json and weights, as the sampler loads it. */
export async function modelFolder(
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor | ByteTensor>,
): Promise<string> {
  const folder = join(root, String(count++));
  await mkdir(folder);
  const tokens = { bos_token_id: null, eos_token_id: 2, pad_token_id: 0 };
  await writeFile(join(folder, "config.json"), formatModelConfig(config, tokens));
  await writeSafetensors(join(folder, "model.safetensors"), weights);
  return folder;
}
