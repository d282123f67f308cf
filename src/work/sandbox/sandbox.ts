import type { JsonValue } from "../../contracts/json.ts";

/** The language of a program. */
export type Language = "python" | "javascript" | "shell";

/** The limits of a program. */
export interface SandboxLimits {
  /** Seconds per execution. Default: 10. */
  time: number;
  /** MiB of memory. Default: 512. */
  memory: number;
  /** Concurrent processes and threads. Default: 32. */
  processes: number;
  /** Bytes of standard output, and the same number for standard error. Default: 65,536. */
  output: number;
  /** MiB of files. Default: 64. */
  disk: number;
}

/** A program to run. */
export interface Program {
  language: Language;
  code: string;
  /** Its standard input. Default: empty. */
  stdin?: string;
  /**
   * Keep variables and imports between runs, for each language. Default: false, so only the session's files
   * persist.
   */
  keep?: boolean;
}

/** Options of a run in addition to its program. */
export interface RunOptions {
  /** Ends the program, and with it the session's state. `run` then throws the signal's reason. */
  signal?: AbortSignal;
  /** Overrides the session's limits of time and output. */
  limits?: Partial<Pick<SandboxLimits, "time" | "output">>;
}

/**
 * The result of a program. Its failures are reported here and never thrown: `failed` means an exception or an exit code,
 * `…-limit` an exceeded limit, and `ended` a crash of the interpreter. `disk-limit` and `process-limit` mean that the
 * program failed while no room was left.
 */
export interface Ran {
  outcome:
    | "finished"
    | "failed"
    | "time-limit"
    | "memory-limit"
    | "output-limit"
    | "process-limit"
    | "disk-limit"
    | "ended";
  stdout: string;
  stderr: string;
  /** The value of the last expression as the language prints it (`repr`), if there is one. */
  value?: string;
  exitCode?: number;
  /** Its duration. */
  seconds: number;
  /** What the session lost: its variables, or its files too. The next run starts without them. */
  lost?: "variables" | "everything";
}

/** Options of a session. */
export interface SessionOptions {
  limits?: Partial<SandboxLimits>;
  /**
   * Environment variables of the session's processes on this machine (a tool's `environment`). Programs don't
   * see them. Prestarted processes lack them; `hold` reports those.
   */
  environment?: Record<string, string> | undefined;
  /**
   * Receives the handle with which `killProcess` of `everturn/plugin` ends the session, whenever it changes: a
   * tool's `hold`.
   */
  hold?: ((handle: JsonValue) => void) | undefined;
  /** Labels of a container, for people and for `docker ps --filter`. Other kinds ignore them. */
  labels?: Record<string, string>;
  /** Aborts the opening. */
  signal?: AbortSignal | undefined;
}

/**
 * A session for the programs of one trajectory, with its own files and kept state. One program runs at a time;
 * others wait in line.
 */
export interface SandboxSession {
  run(program: Program, options?: RunOptions): Promise<Ran>;
  /** Writes files, by their paths in the working folder. Throws SANDBOX_PATH_INVALID, SANDBOX_DISK_FULL. */
  write(files: Record<string, Uint8Array | string>): Promise<void>;
  /** Reads a file. Undefined if it does not exist. */
  read(path: string): Promise<Uint8Array | undefined>;
  /**
   * Lists the files in the working folder: at most 10,000, and 1 MiB of paths. If there are more, one entry has
   * the path `./`.
   */
  list(): Promise<{ path: string; size: number }[]>;
  /** Ends all programs of the session. May be called more than once. */
  close(): Promise<void>;
}

/** Runs untrusted programs. */
export interface Sandbox {
  /** bubblewrap, wasm … */
  readonly kind: string;
  readonly languages: readonly Language[];
  /** What this sandbox isolates and what it does not, in a sentence or two. */
  readonly boundary: string;
  open(options?: SessionOptions): Promise<SandboxSession>;
  /** Closes its sessions. */
  close(): Promise<void>;
}
