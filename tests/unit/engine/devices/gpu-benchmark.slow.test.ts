import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 900_000 }); // minutes of computing

const folder = join(import.meta.dirname, "../../../../benchmarks/gpu");

/** A program's last line, which is JSON, on SwiftShader. */
async function compared(program: string, ...shape: string[]) {
  const args = [join(folder, program), "webgpu", ...shape, "swiftshader"];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout.trim().split("\n").at(-1)!);
}

test("what the GPU benchmark compares, it can compare: training and decoding on WebGPU and the CPU", async () => {
  const { train, decoding } = await compared("compare.ts", "tiny");
  expect(train.difference).toBeLessThan(1e-4);
  expect(decoding.difference).toBeLessThan(1e-4);
});

test("so it can bases of few bits", async () => {
  const { decoders, cpu, updates } = await compared("few-bits.ts", "tiny", "int4");
  for (const difference of decoders.float32) expect(difference).toBeLessThan(1e-5);
  expect(updates.float32.updates[1].loss).toBeCloseTo(cpu[1].loss, 5);
  expect(updates.float32.gap).toBeLessThan(1e-5);
});
