// Writes what sizes.ts trains on, in a process of its own, so that a model's memory goes with it.
// Arguments: folder, shape, bases (float32, bfloat16, int8, int4: a folder each inside), trajectories and tokens of each (or nothing).

import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { defined } from "../../src/base/records/defined.ts";
import { quantizationOf, quantizeWeights } from "../../src/engine/models/weights/quantize.ts";
import { quantizedTensors } from "../../src/engine/models/weights/quantized-tensors.ts";
import { readSafetensors, writeSafetensors } from "../../src/engine/models/weights/safetensors.ts";
import { realShapes } from "../shapes.ts";
import { writeWorkload } from "./workload.ts";

const [folder = ".", named, bases = "float32", rows = "", tokens = ""] = process.argv.slice(2);
const shape = realShapes.find((name) => name === named);
if (!shape) throw new Error(`there is no shape ${named}`);

const float32 = join(folder, "float32");
const size = rows && tokens ? ([Number(rows), Number(tokens)] as const) : undefined;
await writeWorkload(float32, shape, true, defined({ real: true, size }));
for (const base of bases.split(",")) {
  if (base === "float32") continue;
  const own = join(folder, base);
  await mkdir(own);
  for (const name of ["config.json", "batch.json", "lora.json", "adapter.safetensors"])
    await symlink(join(float32, name), join(own, name));
  const weights = await readSafetensors(join(float32, "model.safetensors"));
  const quantization = quantizationOf(base);
  const file = join(own, "model.safetensors");
  if (quantization) {
    const { tensors, quantized } = await quantizeWeights(weights, quantization);
    await writeSafetensors(file, new Map([...tensors, ...quantizedTensors(quantized)]));
  } else if (base === "bfloat16") await writeSafetensors(file, weights, { dtype: "BF16" });
  else throw new Error(`there is no base ${base}`);
}
