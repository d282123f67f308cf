import type { Wheel } from "../../base/files/wheel.ts";
import type { Sandbox, SandboxLimits } from "./sandbox.ts";

/** Options for opening a sandbox. */
export interface SandboxOptions {
  /** The caller's `import.meta.url`. The sandbox's packages (deno, pyodide) are resolved from there. */
  modules: URL | string;
  /** The default limits of its sessions. */
  limits?: Partial<SandboxLimits>;
  /**
   * Only for `wasm`: Python packages in addition to the standard library, and code that each interpreter runs
   * before its first program.
   */
  python?: { packages: readonly Wheel[]; warm: string };
}

/** A kind of sandbox. */
export interface Backend {
  readonly kind: string;
  /**
   * Opens a sandbox and runs a program in it as a test. If this machine can't, returns the reason with a
   * remedy as part of a sentence.
   */
  open(options: SandboxOptions): Promise<Sandbox | { missing: string }>;
}
