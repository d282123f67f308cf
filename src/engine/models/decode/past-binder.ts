import type { Bindings } from "../../onnx/bound-session.ts";
import { passError } from "../../onnx/pass-error.ts";
import type { BoundTensor } from "../../onnx/runtime-session.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { Past } from "./cached-decoder.ts";
import type { KeyValueArray } from "./key-values.ts";

/** The bound keys and values, not kept alive: their owner may release them between passes. */
interface Remembered {
  rows: number;
  capacity: number;
  keys: { buffer: WeakRef<object>; offset: number }[];
}

/**
 * Binds the keys and values of this many rows as past and present, unless they are bound already. Returns whether it
 * did.
 */
export function pastBinder(
  bindings: Pick<Bindings, "bindInput" | "bindOutput">,
  { num_key_value_heads: heads, head_dim: size }: ModelConfig,
): (rows: number, past: Past) => boolean {
  let remembered: Remembered | undefined;
  return (rows, past) => {
    if (remembered && isSamePast(remembered, rows, past)) return false;
    const shape = [rows, heads, past.capacity, size];
    const both = (before: string, after: string, data: KeyValueArray) => {
      const tensor = { shape, data: bindable(data) };
      bindings.bindInput(before, tensor);
      bindings.bindOutput(after, tensor);
    };
    past.keys.forEach((keys, layer) => {
      both(`keys${layer}`, `newKeys${layer}`, keys);
      both(`values${layer}`, `newValues${layer}`, past.values[layer]!);
    });
    remembered = { rows, capacity: past.capacity, keys: past.keys.map(weakly) };
    return true;
  };
}

/** Half-precision keys and values are bound on the card. */
function bindable(data: KeyValueArray): BoundTensor["data"] {
  if (data instanceof Uint16Array)
    throw passError("half-precision keys and values are outside the GPU's memory");
  return data;
}

function weakly({ buffer, byteOffset }: KeyValueArray): Remembered["keys"][number] {
  return { buffer: new WeakRef(buffer), offset: byteOffset };
}

/** Values stay where they are as long as keys do, because both are allocated together. */
function isSamePast({ rows, capacity, keys }: Remembered, nextRows: number, past: Past): boolean {
  return (
    rows === nextRows &&
    capacity === past.capacity &&
    keys.every(({ buffer, offset }, layer) => {
      const next = past.keys[layer]!;
      return buffer.deref() === next.buffer && offset === next.byteOffset;
    })
  );
}
