import { InferenceSession, Tensor as RuntimeTensor } from "onnxruntime-node";
import { EverturnError } from "../errors/everturn-error.ts";

/** Numbers with their shape; the array's class is the element type. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Uint8Array;
}

/** What a run gave back, by output name. Asking for what was not fetched throws ONNX_RUN_FAILED. */
export interface Outputs {
  /** The numbers of a float32 output. */
  floats(name: string): Float32Array;
  tensor(name: string): Tensor;
}

export interface SessionOptions {
  /** Threads an operator may use; default 2. */
  threads?: number;
}

/** A model ready to run. */
export interface Session {
  /** Runs the model; inputs are read in place, so don't change them before the run is over. */
  run(feeds: Readonly<Record<string, Tensor>>, fetches?: readonly string[]): Promise<Outputs>;
  close(): Promise<void>;
}

/** Makes an ONNX Runtime session (CPU) of a model's bytes. Throws ONNX_SESSION_FAILED if the runtime refuses it. */
export async function createSession(model: Uint8Array, options: SessionOptions = {}): Promise<Session> {
  const session = await InferenceSession.create(model, {
    executionProviders: ["cpu"],
    intraOpNumThreads: options.threads ?? 2,
    interOpNumThreads: 1,
    enableMemPattern: false,
    graphOptimizationLevel: "all",
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw new EverturnError("ONNX_SESSION_FAILED", { reason: messageOf(cause) }, { cause });
  });
  const names = session.inputNames;

  return {
    async run(feeds, fetches = session.outputNames) {
      const missing = names.filter((name) => feeds[name] === undefined);
      if (missing.length > 0) throw runError(`the input ${missing.join(", ")} was not fed`);
      const unknown = Object.keys(feeds).filter((name) => !names.includes(name));
      if (unknown.length > 0) throw runError(`the model has no input ${unknown.join(", ")}`);
      const runtimeFeeds = Object.fromEntries(names.map((name) => [name, runtimeTensor(name, feeds[name]!)]));
      const results = await session.run(runtimeFeeds, [...fetches]).catch((cause: unknown) => {
        throw runError(messageOf(cause), cause);
      });
      const tensor = (name: string): Tensor => {
        const value = results[name];
        if (!(value instanceof RuntimeTensor)) throw runError(`there is no output ${name}`);
        const data = value.data;
        if (data instanceof Float32Array || data instanceof BigInt64Array || data instanceof Uint8Array) {
          return { shape: value.dims, data };
        }
        throw runError(`the output ${name} is ${value.type}`);
      };
      return {
        tensor,
        floats(name) {
          const { data } = tensor(name);
          if (data instanceof Float32Array) return data;
          throw runError(`the output ${name} is not float32`);
        },
      };
    },
    close: () => session.release(),
  };
}

function runtimeTensor(name: string, { data, shape }: Tensor): RuntimeTensor {
  const size = shape.reduce((total, dimension) => total * dimension, 1);
  if (size !== data.length) {
    throw runError(`the input ${name} of shape [${shape.join(", ")}] was fed ${data.length} numbers`);
  }
  if (data instanceof Float32Array) return new RuntimeTensor("float32", data, shape);
  if (data instanceof BigInt64Array) return new RuntimeTensor("int64", data, shape);
  return new RuntimeTensor("bool", data, shape);
}

function runError(reason: string, cause?: unknown): EverturnError {
  return new EverturnError("ONNX_RUN_FAILED", { reason }, { cause });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
