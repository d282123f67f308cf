import type { SandboxLimits } from "./sandbox.ts";

/** What a program may use where nothing else is said. */
export const defaultLimits: SandboxLimits = {
  time: 10,
  memory: 512,
  processes: 32,
  output: 65_536,
  disk: 64,
};

/** The limits that hold, the last to say one goes first. */
export function limitsOf(...said: (Partial<SandboxLimits> | undefined)[]): SandboxLimits {
  return Object.assign({}, defaultLimits, ...said);
}
