import type { SandboxLimits } from "./sandbox.ts";

/** The default limits of a program. */
export const defaultLimits: SandboxLimits = {
  time: 10,
  memory: 512,
  processes: 32,
  output: 65_536,
  disk: 64,
};

/** Combines limits. Later ones override earlier ones. */
export function limitsOf(...said: (Partial<SandboxLimits> | undefined)[]): SandboxLimits {
  return Object.assign({}, defaultLimits, ...said);
}
