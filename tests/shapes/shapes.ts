import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { publishedShapes } from "./published-shapes.ts";
import { goRoad } from "./road.ts";

// The road of a published model at its own size: a run by hand, of minutes and many gigabytes. docs/models.md says more.
const { values } = parseArgs({
  options: {
    shape: { type: "string", default: "qwen2.5-0.5b" },
    folder: { type: "string", default: tmpdir() },
  },
});
const shape = publishedShapes.get(values.shape);
if (shape === undefined) {
  throw new Error(`--shape is ${values.shape}; known are ${[...publishedShapes.keys()].join(", ")}`);
}
const work = await mkdtemp(join(values.folder, "everturn-shapes-"));
try {
  const { record, steps } = await goRoad(shape, work);
  for (const { command, seconds, memory } of steps) {
    const gigabytes = (memory / 1e9).toFixed(1);
    process.stdout.write(
      `${command.padEnd(8)} ${seconds.toFixed(0).padStart(5)} s  ${gigabytes.padStart(5)} GB\n`,
    );
  }
  const { seconds, tokens, rewardMean, gradientNorm, logprobGap, entropy } = record;
  process.stdout.write(
    `${JSON.stringify({ shape: values.shape, seconds, tokens, rewardMean, gradientNorm, logprobGap, entropy })}\n`,
  );
} finally {
  await rm(work, { recursive: true, force: true });
}
