import type { Bindings } from "../../onnx/bound-session.ts";
import type { DecoderPass } from "./cached-decoder.ts";

/** Binds an adapter's matrices unless they are bound already. Without an adapter the last one's stay bound. */
export function adapterBinder(
  bindings: Pick<Bindings, "bindInput">,
): (adapter: DecoderPass["adapter"]) => void {
  let bound: DecoderPass["adapter"];
  return (adapter) => {
    if (!adapter || adapter === bound) return;
    for (const [name, matrix] of adapter) bindings.bindInput(name, matrix);
    bound = adapter;
  };
}
