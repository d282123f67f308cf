// `everturn/sandbox`: sandboxes for tools and rewards that run a model's code.
export type { SandboxOptions } from "../work/sandbox/backend.ts";
export { buildImage } from "../work/sandbox/containers/build-image.ts";
export type {
  Command,
  ContainerFiles,
  ContainerOptions,
  ContainerSession,
  Containers,
  ContainerWish,
} from "../work/sandbox/containers/container.ts";
export { openContainers, sharedContainers } from "../work/sandbox/open-containers.ts";
export { openSandbox, sharedSandbox } from "../work/sandbox/open-sandbox.ts";
export type { RemoteWish } from "../work/sandbox/remote/remote-wish.ts";
export type {
  Language,
  Program,
  Ran,
  RunOptions,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionOptions,
} from "../work/sandbox/sandbox.ts";
