import type { Card } from "../devices/device.ts";
import { closedError } from "./pass-error.ts";
import { made, type Pointer, type RuntimeFunction, type RuntimeFunctions } from "./runtime-functions.ts";
import {
  type BoundTensor,
  type RuntimeSessionOptions,
  runtimeSession,
  runtimeSessionAside,
  valueOver,
} from "./runtime-session.ts";

/**
 * A model with inputs and outputs in the caller's memory, bound once for many passes. Nothing is copied, and a pass
 * costs one call. onnxruntime-node can't do this, so the runtime's C API is called directly. On a card, inputs in main
 * memory are copied when they are bound, and outputs after each pass.
 */
export interface BoundSession {
  /** Creates bindings, which are independent of others. */
  bindings(): Bindings;
  /** Returns the runtime's allocator of a card's memory. Release it before the session is closed. */
  allocator(card: Card): Pointer;
  /** Frees the model. Later calls of it or its bindings throw ONNX_RUN_FAILED. */
  close(): void;
}

/** Where inputs and outputs of passes are. */
export interface Bindings {
  /**
   * Binds an input from the next pass on. The memory must live as long as passes read it. It is not kept alive here.
   */
  bindInput(name: string, tensor: BoundTensor): void;
  /** Binds an input and keeps its memory alive until another one replaces it. */
  keepInput(name: string, tensor: BoundTensor): void;
  /** Binds an output likewise. An input and an output may share memory if the operator allows it. */
  bindOutput(name: string, tensor: BoundTensor): void;
  /**
   * Runs the model and blocks this thread. In a session that records, the first pass with a number is recorded, and
   * later ones with that number replay it as a whole, with the same shapes and addresses. Throws ONNX_RUN_FAILED.
   */
  run(recording?: number): void;
  /**
   * Runs the model in another thread, without blocking this one. Until it ends, don't bind anything or close the
   * session.
   */
  runAside(): Promise<void>;
}

/** Creates a session from a model's bytes. Throws ONNX_SESSION_FAILED if the runtime rejects the model. */
export function createBoundSession(
  runtime: RuntimeFunctions,
  model: Uint8Array,
  options: RuntimeSessionOptions,
): BoundSession {
  return boundTo(runtime, runtimeSession(runtime, model, options), options);
}

/** Creates a session in another thread, without blocking this one. */
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
  /** Run options of a recording, by its number; −1: none. */
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
      /** The binding then holds the tensor, but not its memory. */
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
