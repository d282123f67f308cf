// Everturn's side of benchmarks/generate.ts; speaks as peers/generate.py does. Arguments: model folder, threads.
import { join } from "node:path";
import { createInterface } from "node:readline";
import { limitExternalMemoryWithHeap } from "../../src/base/processes/external-memory.ts";
import { readModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { createSampler } from "../../src/engine/sampling/sampler.ts";
import type { GenerateAnswer, GenerateRequest } from "./side.ts";

limitExternalMemoryWithHeap(); // as workers do
const [folder = ".", threads = "2"] = process.argv.slice(2);
const config = await readModelConfig(join(folder, "config.json"));
const sampler = createSampler({
  config,
  activations: "int8", // of quantized models, as llama.cpp has them
  slots: 64,
  stopTokens: [],
  threads: Number(threads),
  decode: () => "",
});
await sampler.load(0, folder);

let count = 0;
async function answer({ prompts, limits, sampled }: GenerateRequest): Promise<GenerateAnswer> {
  const start = performance.now();
  const before = process.cpuUsage();
  const samples = await Promise.all(
    prompts.map((tokens, index) =>
      sampler.generate({
        tokens,
        version: 0,
        sampling: { temperature: sampled ? 1 : 0, maxTokens: limits[index]! },
        key: { seed: 1, trajectory: String(count++), turn: 0 },
      }),
    ),
  );
  const { user, system } = process.cpuUsage(before);
  return {
    seconds: (performance.now() - start) / 1000,
    processorSeconds: (user + system) / 1e6,
    tokens: samples.map(({ tokens }) => tokens),
  };
}

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
await sampler.close();
