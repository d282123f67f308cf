import type { JsonValue } from "../../../contracts/json.ts";
import type { SandboxLimits } from "../sandbox.ts";
import type { Command, ContainerOptions } from "./container.ts";
import type { ClientEnd } from "./run-client.ts";

/** A container that runs. */
export interface RunningContainer {
  /** What ends it when a worker died: a handle for `killProcess`. */
  handle: JsonValue;
  /** Runs a shell command in it. Throws SANDBOX_FAILED if it can't tell what became of the command. */
  exec(command: string, options: ExecOptions): Promise<ClientEnd>;
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
export interface ExecOptions extends Pick<Command, "stdin" | "folder" | "user" | "environment" | "signal"> {
  /** Seconds. */
  time: number;
  /** Bytes of standard output, and the same number for standard error. */
  output: number;
  /** The text that the command writes first to standard error. It does not count as output. */
  begins: string;
}

/** Starts containers of an image. Throws SANDBOX_FAILED, or the signal's reason. */
export type StartContainer = (limits: SandboxLimits, options: ContainerOptions) => Promise<RunningContainer>;
