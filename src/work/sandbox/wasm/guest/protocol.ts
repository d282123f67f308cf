/** What travels between Everturn and a Deno process that holds interpreters: JSON, a line a message. */

export type GuestLanguage = "python" | "javascript";

/** Files by their paths below the working folder, base64. */
export type GuestFiles = Record<string, string>;

/** The first message: what holds for all of the process's life. Sizes in MiB. */
export interface Start {
  type: "start";
  /** What each line to Everturn begins with, so that nobody else's is taken for one. */
  key: string;
  memory: number;
  disk: number;
}

/** Starts an interpreter, if it isn't there. Answered by `ready`. */
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
  /** What became of the files since the interpreter saw them. */
  put: GuestFiles;
  removed: string[];
}

export type ToGuest = Start | Prepare | Run;

/** What came of a run, but for its output, which came before it. */
export interface GuestRan {
  type: "ran";
  outcome: "finished" | "failed" | "time-limit" | "memory-limit" | "output-limit" | "disk-limit" | "ended";
  value?: string;
  exitCode?: number;
  seconds: number;
  put: GuestFiles;
  removed: string[];
  /** The interpreter is gone. */
  lost: boolean;
}

export type FromGuest =
  | { type: "ready"; language: GuestLanguage }
  | { type: "unusable"; language: GuestLanguage; reason: string }
  | { type: "output"; stream: "stdout" | "stderr"; text: string }
  | GuestRan;

/** To an interpreter's thread. */
export type ToInterpreter =
  | { type: "load"; load: Load }
  | { type: "run"; run: Omit<Run, "type" | "language"> };

/** What an interpreter is made of. The main thread alone reads files. */
export interface Load {
  /** MiB. */
  disk: number;
  memory: number;
  /** 2: the program is to stop. */
  interrupt: SharedArrayBuffer;
  python?: PythonParts;
  /** Of JavaScript: what it finds beside the language. */
  prelude?: string;
}

/** Of Python: its module with the memory that it may have, its library, and what it begins with. */
export interface PythonParts {
  module: WebAssembly.Module;
  library: Uint8Array;
  /** What `pyodide-lock.json` says of itself. */
  info: Record<string, string>;
  driver: string;
  /** Packages as a zip file, if there are any. */
  packages?: Uint8Array;
  /** The memory after the start; without it, one is made and handed back, once `warm` has run. */
  snapshot?: Uint8Array;
  warm: string;
}

/** From an interpreter's thread. */
export type FromInterpreter =
  | { type: "ready"; snapshot?: Uint8Array }
  | { type: "unusable"; reason: string }
  | { type: "output"; stream: "stdout" | "stderr"; text: string }
  | { type: "flooded" }
  /** The session's files are there: the program's time begins. */
  | { type: "begun" }
  /** The program is over: what follows is not its time. */
  | { type: "over" }
  | Omit<GuestRan, "seconds">;
