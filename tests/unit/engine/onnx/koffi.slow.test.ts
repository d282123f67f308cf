import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";

interface Outcome {
  losses: number[];
  tokens: number[];
  warnings: string[];
}

const script = join(import.meta.dirname, "../../../support/train-beside-koffi.ts");

async function train(how: string): Promise<Outcome> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, how]);
  return JSON.parse(stdout);
}

const alone = train("alone");

test.each([
  ["was given other limits", "limited", []],
  ["has loaded a library with its defaults", "loaded", ["ONNX_RUNS_BLOCK"]],
  ["gives calls too little stack", "small", ["ONNX_API_UNREACHABLE"]],
  ["is not installed", "absent", ["ONNX_API_UNREACHABLE"]],
])("training and sampling go on where koffi %s", async (_, how, warnings) => {
  const [{ losses, tokens }, other] = [await alone, await train(how)];
  expect(other.warnings).toEqual(warnings);
  expect(other.tokens).toEqual(tokens);
  expect(other.losses).toHaveLength(3);
  other.losses.forEach((loss, at) => {
    expect(loss).toBeCloseTo(losses[at]!, 5);
  });
});

test("a second copy of the module finds the process's environment as the first one left it", async () => {
  const load = async () => {
    vi.resetModules();
    const { runtimeFunctions } = await import("../../../../src/engine/onnx/runtime-functions.ts");
    return runtimeFunctions();
  };
  const [first, second] = [await load(), await load()];
  expect(first).toBeDefined();
  expect(second).toBeDefined();
  expect(second).not.toBe(first);
});
