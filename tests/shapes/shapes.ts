import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { publishedShapes } from "./published-shapes.ts";
import { goRoad } from "./road.ts";

// The road of a published model at its own size: a run by hand, of minutes and many gigabytes. docs/models.md says more.
// node tests/shapes/shapes.ts [--shape qwen2.5-0.5b] [--steps 1] [--set policy.config.quantization=int8]… [--folder FOLDER]
//   [--python venv/bin/python], with which transformers then loads what was exported and compares its logits
const { values } = parseArgs({
  options: {
    shape: { type: "string", default: "qwen2.5-0.5b" },
    steps: { type: "string", default: "1" },
    set: { type: "string", multiple: true, default: [] },
    folder: { type: "string", default: tmpdir() },
    python: { type: "string" },
  },
});
const shape = publishedShapes.get(values.shape);
if (shape === undefined) {
  throw new Error(`--shape is ${values.shape}; known are ${[...publishedShapes.keys()].join(", ")}`);
}
const work = await mkdtemp(join(values.folder, "everturn-shapes-"));
try {
  const { folders, record, steps } = await goRoad(shape, work, {
    set: [`steps=${values.steps}`, ...values.set],
  });
  for (const { command, seconds, memory } of steps) {
    const gigabytes = (memory / 1e9).toFixed(1);
    process.stdout.write(
      `${command.padEnd(8)} ${seconds.toFixed(0).padStart(5)} s  ${gigabytes.padStart(5)} GB\n`,
    );
  }
  const { step, seconds, tokens, rewardMean, gradientNorm, logprobGap, entropy } = record;
  process.stdout.write(
    `${JSON.stringify({ shape: values.shape, step, seconds, tokens, rewardMean, gradientNorm, logprobGap, entropy })}\n`,
  );
  if (values.python !== undefined) {
    const check = join(import.meta.dirname, "../../scripts/check-transformers.py");
    const { stdout } = await promisify(execFile)(values.python, [check, folders.folder]);
    process.stdout.write(stdout);
  }
} finally {
  await rm(work, { recursive: true, force: true });
}
