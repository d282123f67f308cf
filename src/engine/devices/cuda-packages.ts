import { join } from "node:path";
import { fetchedWheel, type Wheel } from "../../base/files/wheel.ts";

/**
 * ONNX Runtime with CUDA 13, of the same version and commit as the npm package, which does not include CUDA. The wheel
 * is built for Python, but its CUDA provider does not depend on Python.
 */
export const providerWheel: Wheel = {
  name: "onnxruntime-gpu",
  version: "1.30.0",
  sha256: "6acc0f4b3d5ac5f2984432faa59dd8fcce6775f8b43a7140afa0f322c7a703b1",
  platform: "manylinux_2_28_x86_64",
  python: "3.12",
};

/** Returns the folder with a provider wheel's libraries, in which ONNX Runtime looks for them. */
export function providerFolder(wheelFolder: string): string {
  return join(wheelFolder, "onnxruntime", "capi");
}

/** A library that the CUDA provider needs, and NVIDIA's wheel that contains it. */
export interface CudaLibrary {
  readonly file: string;
  readonly wheel: Wheel;
  readonly folder: string;
}

const toolkit = join("nvidia", "cu13", "lib");
const runtime: Wheel = {
  name: "nvidia-cuda-runtime",
  version: "13.0.96",
  sha256: "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
  platform: "manylinux2014_x86_64",
};
const compiler: Wheel = {
  name: "nvidia-cuda-nvrtc",
  version: "13.0.88",
  sha256: "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575",
  platform: "manylinux2010_x86_64",
};
const linearAlgebra: Wheel = {
  name: "nvidia-cublas",
  version: "13.1.0.3",
  sha256: "ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171",
  platform: "manylinux_2_27_x86_64",
};
const randomNumbers: Wheel = {
  name: "nvidia-curand",
  version: "10.4.0.35",
  sha256: "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc",
  platform: "manylinux_2_27_x86_64",
};
const neuralNetworks: Wheel = {
  name: "nvidia-cudnn-cu13",
  version: "9.15.1.9",
  sha256: "ebc9a647918df0d7298d67cfaf41579fd4c78ead9aba246f5ad9414d61b9ec4c",
  platform: "manylinux_2_27_x86_64",
};

/**
 * The libraries of CUDA 13.0, which needs a driver of the 580 series or newer. Each follows the libraries that it
 * depends on.
 */
export const cudaLibraries: readonly CudaLibrary[] = [
  { file: "libcudart.so.13", wheel: runtime, folder: toolkit },
  { file: "libnvrtc.so.13", wheel: compiler, folder: toolkit },
  { file: "libcublasLt.so.13", wheel: linearAlgebra, folder: toolkit },
  { file: "libcublas.so.13", wheel: linearAlgebra, folder: toolkit },
  { file: "libcurand.so.10", wheel: randomNumbers, folder: toolkit },
  { file: "libcudnn.so.9", wheel: neuralNetworks, folder: join("nvidia", "cudnn", "lib") },
];

/** Returns the path of a fetched library, or its bare name, which the system resolves. */
export function libraryPath({ file, wheel, folder }: CudaLibrary): string {
  const fetched = fetchedWheel(wheel);
  return fetched === undefined ? file : join(fetched, folder, file);
}
