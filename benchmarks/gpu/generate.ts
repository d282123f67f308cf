// Everturn's side of benchmarks/gpu.ts: 64 tokens after the first 64 of each sequence, greedily, as peers/gpu.py does.
// Arguments: folder, count, device, precision.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { targetOf } from "../../src/engine/onnx/target.ts";
import { createSampler } from "../../src/engine/sampling/sampler.ts";
import type { BenchmarkSequence } from "../train/workload.ts";

const [folder = ".", count = "1", device = "cpu", precision = "float32"] = process.argv.slice(2);

const config = await readModelConfig(join(folder, "config.json"));
const batch: BenchmarkSequence[] = JSON.parse(await readFile(join(folder, "batch.json"), "utf8"));
const sampler = createSampler({
  config,
  slots: batch.length,
  stopTokens: [],
  threads: 2,
  decode: () => "",
  target: targetOf({ device, precision }),
});
await sampler.load(0, folder);

const generate = () =>
  Promise.all(
    batch.map(({ tokens }, index) =>
      sampler.generate({
        tokens: tokens.slice(0, 64),
        version: 0,
        sampling: { temperature: 0, maxTokens: 64 },
        key: { seed: 1, trajectory: String(index), turn: 1 },
      }),
    ),
  );

const first = await generate();
await generate();
const milliseconds: number[] = [];
for (let run = 0; run < Number(count); run++) {
  const start = performance.now();
  await generate();
  milliseconds.push(performance.now() - start);
}
await sampler.close();
console.log(JSON.stringify({ milliseconds, tokens: first.map(({ tokens }) => tokens) }));
