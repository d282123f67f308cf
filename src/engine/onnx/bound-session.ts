import type { Card } from "../devices/device.ts";
import { closedError } from "./run-error.ts";
import { made, type Pointer, type RuntimeFunction, type RuntimeFunctions } from "./runtime-functions.ts";
import {
  type BoundTensor,
  type RuntimeSessionOptions,
  runtimeSession,
  runtimeSessionAside,
  valueOver,
} from "./runtime-session.ts";

/**
 * A model whose inputs and outputs lie in memory of the caller's, bound once for many runs: nothing is
 * copied, and a run costs a call. onnxruntime-node can't do this, so the runtime's C API is called beside it.
 * On a card, inputs that lie in the processor's memory are copied there as they are bound, outputs by each run.
 */
export interface BoundSession {
  /** Bindings of their own: what is bound in some doesn't undo what is bound in others. */
  bindings(): Bindings;
  /** The runtime's allocator of a card's memory, to be released before the session is closed. */
  allocator(card: Card): Pointer;
  /** Frees the model; what is asked of it or its bindings afterwards throws ONNX_RUN_FAILED. */
  close(): void;
}

/** Where inputs and outputs of runs lie. */
export interface Bindings {
  /**
   * Binds an input from the next run on. The memory must live as long as runs read it; it is not kept alive here.
   */
  bindInput(name: string, tensor: BoundTensor): void;
  /** The same for memory that nobody else may hold: it is kept alive until another is bound in its place. */
  keepInput(name: string, tensor: BoundTensor): void;
  /** Binds an output likewise. An input and an output may be the same memory, where the operator allows it. */
  bindOutput(name: string, tensor: BoundTensor): void;
  /**
   * Runs the model, blocking this thread. In a session that records, a run with a number is recorded the first time, and
   * repeated as a whole with that number from then on: with the same shapes and places in memory. Throws ONNX_RUN_FAILED.
   */
  run(recording?: number): void;
  /** Runs the model in another thread, while this one goes on; until it ends, nothing may be bound, and the session not be closed. */
  runAside(): Promise<void>;
}

/** Makes a session of a model's bytes. Throws ONNX_SESSION_FAILED if the runtime refuses the model. */
export function createBoundSession(
  runtime: RuntimeFunctions,
  model: Uint8Array,
  options: RuntimeSessionOptions,
): BoundSession {
  return boundTo(runtime, runtimeSession(runtime, model, options), options);
}

/** The same, made in another thread while this one goes on. */
export async function createBoundSessionAside(
  runtime: RuntimeFunctions,
  model: Uint8Array,
  options: RuntimeSessionOptions,
): Promise<BoundSession> {
  return boundTo(runtime, await runtimeSessionAside(runtime, model, options), options);
}

function boundTo(
  runtime: RuntimeFunctions,
  session: Pointer,
  { records = false }: RuntimeSessionOptions,
): BoundSession {
  const all: Pointer[] = [];
  /** What runs of a recording are asked for with, by its number; −1: none. */
  const runOptions = new Map<number, Pointer>();
  const optionsOf = (recording: number) => {
    const known = runOptions.get(recording);
    if (known !== undefined) return known;
    const fresh = made(runtime.CreateRunOptions);
    runOptions.set(recording, fresh);
    runtime.AddRunConfigEntry(fresh, "gpu_graph_id", String(recording));
    return fresh;
  };
  let closed = false;
  const checkOpen = () => {
    if (closed) throw closedError();
  };
  return {
    bindings() {
      checkOpen();
      const binding = made(runtime.CreateIoBinding, session);
      all.push(binding);
      const kept = new Map<string, BoundTensor>();
      /** The binding holds the tensor from then on, though not the memory. */
      const bind = (to: RuntimeFunction, name: string, tensor: BoundTensor) => {
        checkOpen();
        const value = valueOver(runtime, name, tensor);
        to(binding, name, value);
        runtime.ReleaseValue(value);
      };
      return {
        bindInput: (name, tensor) => bind(runtime.BindInput, name, tensor),
        keepInput(name, tensor) {
          bind(runtime.BindInput, name, tensor);
          kept.set(name, tensor);
        },
        bindOutput: (name, tensor) => bind(runtime.BindOutput, name, tensor),
        run(recording = -1) {
          checkOpen();
          runtime.RunWithBinding(session, records ? optionsOf(recording) : null, binding);
        },
        async runAside() {
          checkOpen();
          await runtime.RunWithBinding.aside(session, null, binding);
        },
      };
    },
    allocator(card) {
      checkOpen();
      return made(runtime.CreateAllocator, session, runtime.cardMemory[card]);
    },
    close() {
      if (closed) return;
      closed = true;
      for (const binding of all) runtime.ReleaseIoBinding(binding);
      for (const one of runOptions.values()) runtime.ReleaseRunOptions(one);
      runtime.ReleaseSession(session);
    },
  };
}
