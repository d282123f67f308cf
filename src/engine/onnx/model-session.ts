import type { Tensor as RuntimeTensor } from "onnxruntime-node";
import type { Device } from "../devices/device.ts";
import type { Pointer } from "./runtime-functions.ts";

/** Numbers with their shape. The array's class determines the element type. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int8Array | Uint8Array;
}

/**
 * Numbers in a device's memory, to feed to any pass there. Dispose of them before the session that created them closes.
 */
export interface DeviceTensor {
  readonly shape: readonly number[];
  readonly deviceData: RuntimeTensor | CudaValue;
  /** Releases the memory, which is kept until then. */
  dispose(): void;
}

/** The outputs of a pass, by name. Reading one that was not fetched throws ONNX_RUN_FAILED. */
export interface Outputs {
  /** Returns the numbers of a float32 output. */
  floats(name: string): Float32Array;
  tensor(name: string): Tensor;
  /** Returns an output that stayed in the device's memory. */
  deviceTensor(name: string): DeviceTensor;
  /**
   * Releases the memory of the fetched outputs immediately, without waiting for the garbage collector. Gradients of a
   * large model take hundreds of megabytes per pass. The arrays are empty afterwards.
   */
  release(): void;
}

export interface ModelSessionOptions {
  /**
   * Threads per operator. Default: 1, because small operators take longer on two, which wait for each other by
   * spinning.
   */
  threads?: number;
  /** Where the model runs. Default: "cpu". */
  device?: Device;
  /** Outputs that stay in the device's memory, which "cpu" does not support. Default: none. */
  keptOnDevice?: readonly string[];
  /** The folder of the files that `graph.stored` names. They are mapped into memory. */
  weightsFolder?: string;
}

/** A model ready to run. */
export interface ModelSession {
  /** Runs the model. Inputs are read in place, so don't change them before the pass has ended. */
  run(feeds: Readonly<Record<string, Tensor | DeviceTensor>>, fetches?: readonly string[]): Promise<Outputs>;
  /** Waits for active passes, then frees the model. Later calls throw ONNX_RUN_FAILED. */
  close(): Promise<void>;
}

/** A value of the runtime's in the memory of an NVIDIA card. */
interface CudaValue {
  readonly cudaValue: Pointer;
}
