import { existsSync } from "node:fs";
import { copyFile, rename } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { fetchedWheel, fetchWheel } from "../../base/files/wheel.ts";
import { cudaLibraries, libraryPath, providerFolder, providerWheel } from "./cuda-packages.ts";
import type { Obstacle } from "./device.ts";
import { loadLibrary } from "./native-library.ts";

const runtimeLibrary = "libonnxruntime.so.1";
const fetchProvider = "Run `npx everturn devices fetch cuda`.";
const fetchLibraries =
  "Run `npx everturn devices fetch cuda --with-libraries`, or install CUDA 13 and cuDNN 9.";

/**
 * Fetches the CUDA provider of ONNX Runtime into the user's cache, and with `libraries` also the parts of CUDA and
 * cuDNN that it needs (1 GB). Leaves the npm package unchanged. Throws DEVICE_UNAVAILABLE on machines that the provider
 * isn't built for, PACKAGE_FETCH_FAILED if a download fails.
 */
export async function fetchCuda(
  options: { libraries: boolean },
  note: (line: string) => void = () => {},
): Promise<void> {
  const obstacle = wrongMachine();
  if (obstacle) throw new EverturnError("DEVICE_UNAVAILABLE", { device: "cuda", ...obstacle });
  const wheels = [providerWheel, ...(options.libraries ? cudaLibraries.map(({ wheel }) => wheel) : [])];
  for (const wheel of new Set(wheels)) note(`${wheel.name} ${wheel.version}: ${await fetchWheel(wheel)}`);
  if (runtimeWithCuda() !== undefined) return;
  // ONNX Runtime looks for a provider in the folder of its own library, so a copy of the library goes there.
  const library = join(providerFolder(await fetchWheel(providerWheel)), runtimeLibrary);
  await copyFile(npmLibrary(), `${library}.${process.pid}`);
  await rename(`${library}.${process.pid}`, library);
}

/** Returns the path of ONNX Runtime's library in the npm package. */
export function npmLibrary(): string {
  const manifest = createRequire(import.meta.url).resolve("onnxruntime-node/package.json");
  const names: Partial<Record<NodeJS.Platform, string>> = {
    darwin: "libonnxruntime.1.dylib",
    win32: "onnxruntime.dll",
  };
  const name = names[process.platform] ?? runtimeLibrary;
  return join(dirname(manifest), "bin", "napi-v6", process.platform, process.arch, name);
}

/** Returns the copy of ONNX Runtime's library that finds the CUDA provider, if it was fetched. */
export function runtimeWithCuda(): string | undefined {
  const wheel = fetchedWheel(providerWheel);
  const file = wheel === undefined ? undefined : join(providerFolder(wheel), runtimeLibrary);
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** Loads the libraries of the CUDA provider. Returns the obstacle if one is missing. */
export function loadCuda(): Obstacle | undefined {
  const machine = wrongMachine();
  if (machine) return machine;
  if (runtimeWithCuda() === undefined) {
    return { reason: "ONNX Runtime's CUDA provider was not fetched yet", hint: fetchProvider };
  }
  const missing = cudaLibraries.filter((library) => loadLibrary(libraryPath(library)) !== undefined);
  if (missing.length > 0) {
    return { reason: `${missing.map(({ file }) => file).join(", ")} not found`, hint: fetchLibraries };
  }
  const driver = loadLibrary("libcuda.so.1");
  if (driver === undefined) return undefined;
  return {
    reason: "there is no NVIDIA driver (libcuda.so.1)",
    hint: "CUDA wants an NVIDIA card and its driver of the 580 series or newer; `webgpu` runs on other cards, `cpu` everywhere.",
  };
}

function wrongMachine(): Obstacle | undefined {
  const machine = `${process.platform} ${process.arch}`;
  if (machine === "linux x64") return undefined;
  return { reason: `it needs linux x64, and this is ${machine}`, hint: "Use `cpu` or `webgpu`." };
}
