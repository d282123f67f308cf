import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadCuda, runtimeWithCuda } from "../../../../src/engine/devices/cuda.ts";
import { providerFolder, providerWheel } from "../../../../src/engine/devices/cuda-packages.ts";
import { loadLibrary } from "../../../../src/engine/devices/native-library.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const cache = temporaryFolder();

beforeEach(() => vi.stubEnv("XDG_CACHE_HOME", cache));
afterEach(() => vi.unstubAllEnvs());

function model(): Uint8Array {
  const graph = createGraph();
  graph.output("same", graph.input("number", "float32", [1]));
  return modelBytes(graph);
}

test("the provider is of the version of ONNX Runtime that runs the models", () => {
  const { version }: { version: string } = createRequire(import.meta.url)("onnxruntime-node/package.json");
  expect(providerWheel.version).toBe(version);
});

test("a session on a device that can't be used says what is missing and how to get it", async () => {
  await expect(createModelSession(model(), { device: "cuda" })).rejects.toMatchObject({
    code: "DEVICE_UNAVAILABLE",
  });
  await expect(createModelSession(model(), { device: "cuda" })).rejects.toThrow(
    "The device “cuda” can't be used on this machine: ONNX Runtime's CUDA provider was not fetched yet. " +
      "Run `npx everturn devices fetch cuda`.",
  );
});

test("once the provider is fetched, libraries that it needs are named", () => {
  const folder = providerFolder(
    join(cache, "everturn", "wheels", `${providerWheel.name}-${providerWheel.version}`),
  );
  mkdirSync(folder, { recursive: true });
  expect(runtimeWithCuda()).toBeUndefined();
  writeFileSync(join(folder, "libonnxruntime.so.1"), "");
  expect(runtimeWithCuda()).toBe(join(folder, "libonnxruntime.so.1"));
  const obstacle = loadCuda();
  if (loadLibrary("libcudart.so.13") === undefined) return; // This machine has CUDA.
  expect(obstacle?.reason).toContain("libcudart.so.13");
  expect(obstacle?.hint).toContain("--with-libraries");
});

test("a library that does not load is refused with the system's reason", () => {
  expect(loadLibrary("libnosuch.so.7")).toContain("libnosuch.so.7: cannot open shared object file");
  expect(loadLibrary("libc.so.6")).toBeUndefined();
});
