import type { Wheel } from "../../base/files/wheel.ts";
import type { Sandbox, SandboxLimits } from "./sandbox.ts";

/** What a sandbox is opened with. */
export interface SandboxOptions {
  /** `import.meta.url` of who asks: the packages that a sandbox is made of (deno, pyodide) are looked up from there. */
  modules: URL | string;
  /** For sessions that say nothing else. */
  limits?: Partial<SandboxLimits>;
  /** Python packages beside the standard library, and code that has run in each interpreter before its first program. Only of `wasm`. */
  python?: { packages: readonly Wheel[]; warm: string };
}

/** A kind of sandbox. */
export interface Backend {
  readonly kind: string;
  /** Really tries it: a sandbox in which a program has run, or why this machine has none, with what to do, as a part of a sentence. */
  open(options: SandboxOptions): Promise<Sandbox | { missing: string }>;
}
