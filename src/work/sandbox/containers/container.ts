import type { Ran, SandboxLimits, SandboxSession, SessionOptions } from "../sandbox.ts";

/** A shell command to run in a container. */
export interface Command {
  /** The text for `sh`. */
  command: string;
  /** Its standard input. Default: empty. */
  stdin?: string | Uint8Array | undefined;
  /** An absolute path. Default: the container's working folder. */
  folder?: string | undefined;
  /** The name or number of a user of the image. Default: the image's own. */
  user?: string | undefined;
  /** Environment variables in addition to the image's. */
  environment?: Record<string, string> | undefined;
  /** Overrides the session's limits. */
  limits?: Partial<Pick<SandboxLimits, "time" | "output">> | undefined;
  /** Ends the command and everything else that runs in the container. `exec` then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Files by their absolute paths. */
export type ContainerFiles = Record<string, Uint8Array | string>;

/** A session in a container of its own, which has an image's files. */
export interface ContainerSession extends SandboxSession {
  /**
   * Runs a shell command. Its failure is returned as its outcome. Processes that it leaves behind continue, unless a
   * limit ends it: then all processes of the container end. Throws SANDBOX_FAILED.
   */
  exec(command: Command): Promise<Ran>;
  /** Writes files as the container's root. Throws SANDBOX_PATH_INVALID, SANDBOX_FAILED. */
  put(files: ContainerFiles): Promise<void>;
  /**
   * Returns the file at an absolute path, or the files below it. Links are not followed. Throws SANDBOX_DISK_FULL if
   * they take more than `disk` MiB, SANDBOX_FAILED if the container and its files were lost.
   */
  take(path: string): Promise<Record<string, Uint8Array>>;
  /**
   * Returns how the container's files differ from its image, for `from` of a later session, here or on another machine.
   * Files whose names contain a newline are left out. Throws SANDBOX_DISK_FULL, SANDBOX_FAILED.
   */
  snapshot(): Promise<Uint8Array>;
}

/** Opens containers of one image. */
export interface Containers {
  /** podman, docker … */
  readonly kind: string;
  readonly languages: readonly ("python" | "javascript" | "shell")[];
  /** What the containers isolate and what they do not, in a sentence or two. */
  readonly boundary: string;
  open(options?: ContainerOptions): Promise<ContainerSession>;
  /** Closes its sessions. */
  close(): Promise<void>;
}

/** Options of a container's session. */
export interface ContainerOptions extends SessionOptions {
  /** A snapshot to start from. Default: the image's own files. */
  from?: Uint8Array | undefined;
  /** CPU cores of all programs together, for `podman`, `docker` and `daytona`. Default: all of the machine's; for `daytona` 1. */
  cpus?: number | undefined;
}

/** Containers, as a pipeline requests them. */
export interface ContainerWish {
  kind: string;
  /**
   * The name of an image that the engine has. For `bubblewrap`: the path of an OCI layout, or of an archive of `docker
   * save`. For `apptainer`: the path of a file that it built. For `daytona`: the name of an image in a registry.
   */
  image: string;
  /** A network of the engine's. Default: none. `bubblewrap` and `apptainer` have none. For `daytona`, any text allows it. */
  network?: string | undefined;
  /** For `daytona`: the URL of its API. Default: the hosted service. */
  url?: string | undefined;
  /** For `daytona`: the environment variable that holds its key. Default: DAYTONA_API_KEY. */
  key?: string | undefined;
  /** The engine's program for running containers, such as `runc`. Default: the engine's own choice. */
  runtime?: string | undefined;
}
