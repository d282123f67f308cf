// node benchmarks/tinker/client.ts URL STEPS SEQUENCES TOKENS: the loop of benchmarks/tinker.ts with @everturn/tinker. Prints JSON.
import { TinkerClient } from "../../packages/tinker/index.ts";

const [baseUrl = "", ...counts] = process.argv.slice(2);
const [steps = 0, sequences = 0, tokens = 0] = counts.map(Number);
const session = await new TinkerClient({
  baseUrl,
  apiKey: "tml-benchmark",
  deduplicates: true,
}).createSession();
const model = await session.createModel({ baseModel: "tiny", lora: { rank: 8, seed: 1 } });
const datum = {
  input: Array.from({ length: tokens }, (_, index) => index + 1),
  lossInputs: {
    target_tokens: Array.from({ length: tokens }, (_, index) => index + 2),
    weights: new Float32Array(tokens).fill(1),
  },
};
const data = new Array(sequences).fill(datum);

async function step(): Promise<void> {
  const { outputs } = await model.forwardBackward(data, "cross_entropy");
  if (outputs.length !== sequences) throw new Error(`${outputs.length} outputs`);
  await model.optimStep({ learningRate: 1e-4 });
}

for (let count = 0; count < 5; count += 1) await step();
const start = { wall: performance.now(), cpu: process.cpuUsage() };
for (let count = 0; count < steps; count += 1) await step();
const { user, system } = process.cpuUsage(start.cpu);
console.log(
  JSON.stringify({ wall: (performance.now() - start.wall) / 1000, cpu: (user + system) / 1_000_000 }),
);
session.close();
