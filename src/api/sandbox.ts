// `everturn/sandbox`: where code of a model may run. For tools and rewards that run it.
export type { SandboxOptions } from "../sandbox/backend.ts";
export { openSandbox, sharedSandbox } from "../sandbox/open-sandbox.ts";
export type { RemoteWish } from "../sandbox/remote/remote-wish.ts";
export type {
  Language,
  Program,
  Ran,
  RunOptions,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionOptions,
} from "../sandbox/sandbox.ts";
