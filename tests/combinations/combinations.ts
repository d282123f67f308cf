// npm run combinations -- [--from 1] [--to 100] [--device cpu]: families of models, ways to keep their weights, adapters and algorithms in random
// combinations, a line each; ends with 1 if one samples or trains otherwise than the plainest way does. On webgpu without a card: over SwiftShader.
import { parseArgs } from "node:util";
import { devices } from "../../src/engine/devices/device.ts";
import { useSwiftShader } from "../../src/engine/devices/swiftshader.ts";
import { families, isFamily } from "../../src/engine/models/config/families.ts";
import { runCombination } from "./combination.ts";
import { differences } from "./differences.ts";

const { values } = parseArgs({
  options: {
    from: { type: "string", default: "1" },
    to: { type: "string", default: "100" },
    device: { type: "string", default: "cpu" },
  },
});
const device = devices.find((name) => name === values.device);
if (device === undefined) throw new Error(`--device is ${values.device}; known are ${devices.join(", ")}`);
if (device === "webgpu") await useSwiftShader();
const names = Object.keys(families).filter(isFamily);
for (let seed = Number(values.from); seed <= Number(values.to); seed++) {
  const family = names[seed % names.length]!;
  try {
    const outcome = await runCombination(seed, family, device);
    const found = differences(outcome);
    if (found.length > 0) process.exitCode = 1;
    const told = found.length > 0 ? { found, ...outcome } : { gap: outcome.gap };
    process.stdout.write(`${seed} ${family} ${JSON.stringify(told)}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${seed} ${family} ${error instanceof Error ? error.stack : error}\n`);
  }
}
