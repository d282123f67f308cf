import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const benchmark = join(import.meta.dirname, "../../../benchmarks/gpu/compare.ts");

test("what the GPU benchmark compares, it can compare: training and decoding on WebGPU and the CPU", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    benchmark,
    "webgpu",
    "tiny",
    "swiftshader",
  ]);
  const { train, decoding } = JSON.parse(stdout.trim().split("\n").at(-1)!);
  expect(train.difference).toBeLessThan(1e-4);
  expect(decoding.difference).toBeLessThan(1e-4);
});
