/** The messages between Everturn and a Deno process with interpreters: JSON, one message per line. */

export type GuestLanguage = "python" | "javascript";

/** Files in base64, by their paths below the working folder. */
export type GuestFiles = Record<string, string>;

/** The first message, with the settings for all of the process's life. Sizes are in MiB. */
export interface Start {
  type: "start";
  /** The prefix of each line to Everturn, which distinguishes these lines from other output. */
  key: string;
  memory: number;
  disk: number;
}

/** Starts an interpreter unless it runs. The answer is `ready`. */
export interface Prepare {
  type: "prepare";
  language: GuestLanguage;
}

export interface Run {
  type: "run";
  language: GuestLanguage;
  code: string;
  stdin: string;
  /** Seconds, characters. */
  time: number;
  output: number;
  /** The changes to the files since the interpreter saw them. */
  put: GuestFiles;
  removed: string[];
}

export type ToGuest = Start | Prepare | Run;

/** The result of a run without its output, which came before. */
export interface GuestRan {
  type: "ran";
  outcome: "finished" | "failed" | "time-limit" | "memory-limit" | "output-limit" | "disk-limit" | "ended";
  value?: string;
  exitCode?: number;
  seconds: number;
  put: GuestFiles;
  removed: string[];
  /** The interpreter has ended. */
  lost: boolean;
}

export type FromGuest =
  | { type: "ready"; language: GuestLanguage }
  | { type: "unusable"; language: GuestLanguage; reason: string }
  | { type: "output"; stream: "stdout" | "stderr"; text: string }
  | GuestRan;

/** Messages to an interpreter's thread. */
export type ToInterpreter =
  | { type: "load"; load: Load }
  | { type: "run"; run: Omit<Run, "type" | "language"> };

/** The parts of an interpreter. Only the main thread reads files. */
export interface Load {
  /** MiB. */
  disk: number;
  memory: number;
  /** 2 means that the program must stop. */
  interrupt: SharedArrayBuffer;
  python?: PythonParts;
  /** For JavaScript: the code with the globals of programs. */
  prelude?: string;
}

/** The parts of Python: its module with its memory limit, its library, and its initial state. */
export interface PythonParts {
  module: WebAssembly.Module;
  library: Uint8Array;
  /** The `info` of `pyodide-lock.json`. */
  info: Record<string, string>;
  driver: string;
  /** Packages as a zip file, if any. */
  packages?: Uint8Array;
  /**
   * The memory after the start. If absent, the interpreter makes a snapshot after `warm` has run and returns
   * it.
   */
  snapshot?: Uint8Array;
  warm: string;
}

/** Messages from an interpreter's thread. */
export type FromInterpreter =
  | { type: "ready"; snapshot?: Uint8Array }
  | { type: "unusable"; reason: string }
  | { type: "output"; stream: "stdout" | "stderr"; text: string }
  | { type: "flooded" }
  /** The session's files are in place, and the program's time begins. */
  | { type: "begun" }
  /** The program has ended, and its time with it. */
  | { type: "over" }
  | Omit<GuestRan, "seconds">;
