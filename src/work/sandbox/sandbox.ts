import type { JsonValue } from "../../contracts/json.ts";

/** What a program may be written in. */
export type Language = "python" | "javascript" | "shell";

/** What a program may use. */
export interface SandboxLimits {
  /** Seconds that one execution may take. Default 10. */
  time: number;
  /** MiB of memory. Default 512. */
  memory: number;
  /** Processes and threads at once. Default 32. */
  processes: number;
  /** Bytes of each, standard output and standard error. Default 65,536. */
  output: number;
  /** MiB of files. Default 64. */
  disk: number;
}

/** A program to be run. */
export interface Program {
  language: Language;
  code: string;
  /** What it reads from standard input. Default: nothing. */
  stdin?: string;
  /** Variables and imports are kept from run to run, for each language. Default false: each begins anew, beside the session's files. */
  keep?: boolean;
}

/** What a run may be told beside its program. */
export interface RunOptions {
  /** Ends the program, and with it the session's state; `run` throws the signal's reason. */
  signal?: AbortSignal;
  /** In place of the session's: its time and its output. */
  limits?: Partial<Pick<SandboxLimits, "time" | "output">>;
}

/**
 * What became of a program. Whatever it did wrong is told here and never thrown: `failed` by an exception or an exit code,
 * one of its limits, or `ended`, if it brought its interpreter down. `disk-limit` and `process-limit` are programs that failed while
 * there was no room left.
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
  /** The last expression's value as the language shows it (`repr`), if the program ends with one that has any. */
  value?: string;
  exitCode?: number;
  /** How long it took. */
  seconds: number;
  /** Of what the session had kept, this is gone: the variables, or the files, too. The next run begins without it. */
  lost?: "variables" | "everything";
}

/** What a session is opened with. */
export interface SessionOptions {
  limits?: Partial<SandboxLimits>;
  /** For the processes that are started for the session on this machine (a tool's `environment`). Programs don't see it. Those that waited ready have none: `hold` names them. */
  environment?: Record<string, string>;
  /** Told what `killProcess` of `everturn/plugin` ends the session by, whenever that changes: a tool's `hold`. */
  hold?(handle: JsonValue): void;
  /** Aborts the opening. */
  signal?: AbortSignal;
}

/** Where programs of one trajectory run: files of their own, and what they keep. One run at a time; others wait in line. */
export interface SandboxSession {
  run(program: Program, options?: RunOptions): Promise<Ran>;
  /** Writes files, by their paths below the working folder. Throws SANDBOX_PATH_INVALID, or SANDBOX_DISK_FULL. */
  write(files: Record<string, Uint8Array | string>): Promise<void>;
  /** A file's content; undefined if there is no such file. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** The files below the working folder, by path: at most 10,000, and 1 MiB of paths. If there are more, one entry has the path `./`. */
  list(): Promise<{ path: string; size: number }[]>;
  /** Ends all that runs in it. May be called more than once. */
  close(): Promise<void>;
}

/** A way to run programs that nobody trusts. */
export interface Sandbox {
  /** bubblewrap, wasm … */
  readonly kind: string;
  readonly languages: readonly Language[];
  /** What holds a program back here, and what doesn't, in a sentence or two. */
  readonly boundary: string;
  open(options?: SessionOptions): Promise<SandboxSession>;
  /** Closes its sessions. */
  close(): Promise<void>;
}
