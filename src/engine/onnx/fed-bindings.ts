import type { Bindings } from "./bound-session.ts";
import type { ModelSession, Tensor } from "./model-session.ts";
import { passError } from "./pass-error.ts";
import type { BoundTensor } from "./runtime-session.ts";

/** Bindings of either kind of session. */
export interface FedBindings extends Omit<Bindings, "run" | "runAside"> {
  /** Runs the model. Throws ONNX_RUN_FAILED. */
  run(): void | Promise<void>;
}

/**
 * Returns bindings for a session of onnxruntime-node, for systems on which the C API can't be called. Each pass feeds
 * the bound inputs and copies outputs to their bound memory.
 */
export function fedBindings(session: ModelSession): FedBindings {
  const inputs = new Map<string, Tensor>();
  const outputs = new Map<string, BoundTensor["data"]>();
  const bindInput = (name: string, { shape, data }: BoundTensor) => {
    if ("type" in data || data instanceof Int32Array) throw passError(`the input ${name} can't be fed`);
    inputs.set(name, { shape, data });
  };
  return {
    bindInput,
    keepInput: bindInput,
    bindOutput: (name, { data }) => outputs.set(name, data),
    async run() {
      const given = await session.run(Object.fromEntries(inputs), [...outputs.keys()]);
      for (const [name, to] of outputs) copyTo(to, given.tensor(name).data, name);
      given.release();
    },
  };
}

function copyTo(to: BoundTensor["data"], from: Tensor["data"], name: string): void {
  if (to instanceof Float32Array && from instanceof Float32Array) to.set(from);
  else if (to instanceof BigInt64Array && from instanceof BigInt64Array) to.set(from);
  else throw passError(`the output ${name} is bound to numbers of another type`);
}
