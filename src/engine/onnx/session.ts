import type { Tensor as RuntimeTensor } from "onnxruntime-node";
import type { Device } from "../devices/device.ts";
import type { Pointer } from "./runtime-functions.ts";

/** Numbers with their shape; the array's class is the element type. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int8Array | Uint8Array;
}

/** Numbers that lie in a device's memory, to feed to any run there; disposed of before the session that made them closes. */
export interface DeviceTensor {
  readonly shape: readonly number[];
  readonly deviceData: RuntimeTensor | CudaValue;
  /** Gives the memory back; until then it is kept. */
  dispose(): void;
}

/** What a run gave back, by output name. Asking for what was not fetched throws ONNX_RUN_FAILED. */
export interface Outputs {
  /** The numbers of a float32 output. */
  floats(name: string): Float32Array;
  tensor(name: string): Tensor;
  /** An output that stayed in the device's memory. */
  deviceTensor(name: string): DeviceTensor;
  /**
   * Gives the memory of what was asked for back at once, not when the garbage collector comes by: gradients of a
   * large model are hundreds of megabytes a run. Its arrays are empty afterwards.
   */
  release(): void;
}

export interface SessionOptions {
  /** Threads an operator may use; default 1: small operators take longer on two, and wait for each other by spinning. */
  threads?: number;
  /** Where the model runs; default "cpu". */
  device?: Device;
  /** Outputs that stay in the device's memory ("cpu" can't); default none. */
  keptOnDevice?: readonly string[];
  /** The folder of the files that `graph.stored` names; they are mapped into memory. */
  weightsFolder?: string;
}

/** A model ready to run. */
export interface Session {
  /** Runs the model; inputs are read in place, so don't change them before the run is over. */
  run(feeds: Readonly<Record<string, Tensor | DeviceTensor>>, fetches?: readonly string[]): Promise<Outputs>;
  /** Waits for runs under way, then frees the model; later runs throw ONNX_RUN_FAILED. */
  close(): Promise<void>;
}

/** A value of the runtime's in the memory of an NVIDIA card. */
interface CudaValue {
  readonly cudaValue: Pointer;
}
