import type { JsonValue } from "../../../contracts/json.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { Command, ContainerOptions } from "./container.ts";

/** A container that runs. */
export interface RunningContainer {
  /** What ends it when a worker died: a handle for `killProcess`. */
  handle: JsonValue;
  /** The command of a client that runs a shell command in it, and variables for the client. */
  client(command: string, options: ClientOptions): Client | Promise<Client>;
  /** Ends the programs in it, but not the container. */
  stop: (() => void) | undefined;
  /** Lets it clean up after a program. */
  tidy(): void;
  /** Whether it has ended, and which signal from outside ended it. */
  over(): { signal: NodeJS.Signals | undefined } | undefined;
  /**
   * How often the kernel found no memory or no process for it. Undefined if the container's own files tell it.
   */
  pressure?(): Promise<Pressure>;
  /** How its files differ from the image's. */
  changes(): Promise<Changes>;
  end(): Promise<void>;
}

/** The absolute paths of files that a container has changed or removed. */
export interface Changes {
  changed: string[];
  removed: string[];
}

/** How often the kernel found no memory or no process for a container. */
export interface Pressure {
  memory: number;
  processes: number;
}

/** How a shell command runs. */
export type ClientOptions = Pick<Command, "folder" | "user" | "environment">;

/** A process that passes on a command of a container. */
export interface Client {
  command: string[];
  environment?: Record<string, string> | undefined;
  /** The content of its file descriptor 3. */
  input?: Buffer | undefined;
}

/** Starts containers of an image. Throws SANDBOX_FAILED, or the signal's reason. */
export type StartContainer = (limits: SandboxLimits, options: ContainerOptions) => Promise<RunningContainer>;
