import { EverturnError } from "../errors/everturn-error.ts";
import type { Backend, SandboxOptions } from "./backend.ts";
import { bubblewrap } from "./bubblewrap/bubblewrap.ts";
import type { Sandbox } from "./sandbox.ts";
import { wasm } from "./wasm/wasm.ts";

/** In the order in which `auto` tries them. */
const backends: readonly Backend[] = [bubblewrap, wasm];

/**
 * A sandbox in which a program has run already: of the kind that is wished, or with `auto` the first that works here; its `kind`
 * and `boundary` say which it is. Throws SANDBOX_MISSING with what to install, SANDBOX_UNKNOWN for a kind that there is not.
 */
export async function openSandbox(wish: string, options: SandboxOptions): Promise<Sandbox> {
  const tried = backends.filter(({ kind }) => wish === "auto" || wish === kind);
  if (tried.length === 0) {
    const kinds = ["auto", ...backends.map(({ kind }) => kind)].join(", ");
    throw new EverturnError("SANDBOX_UNKNOWN", { wish, kinds });
  }
  const missing: string[] = [];
  for (const backend of tried) {
    const opened = await backend.open(options);
    if (!("missing" in opened)) return opened;
    missing.push(`${backend.kind}: ${opened.missing}`);
  }
  throw new EverturnError("SANDBOX_MISSING", { wish, reasons: missing.join("; ") });
}
