/**
 * The parts of Pyodide and of Emscripten's file system in memory that this folder uses (`pyodide.mjs` is
 * absent when types are checked).
 */
export interface Pyodide {
  FS: FileSystem;
  runPython(code: string, options?: { globals: PythonDict }): unknown;
  toPy(value: object): PythonDict;
  setInterruptBuffer(buffer: Uint8Array): void;
  setStdin(options: { read(buffer: Uint8Array): number; isatty: boolean }): void;
  setStdout(options: { write(bytes: Uint8Array): number; isatty: boolean }): void;
  setStderr(options: { write(bytes: Uint8Array): number; isatty: boolean }): void;
  registerJsModule(name: string, module: object): void;
  unregisterJsModule(name: string): void;
  makeMemorySnapshot(): Uint8Array<ArrayBuffer>;
  _api: { scheduleCallback: unknown; config: { enableRunUntilComplete: boolean } };
}

export interface PythonDict {
  get(name: string): RunProgram;
}

/** The function `run` of driver.py. */
export interface RunProgram {
  callPromising(code: string): Promise<{ toJs(): unknown[]; destroy(): void }>;
}

export interface FileSystem {
  root: Node;
  streams: ({ node?: Node } | null | undefined)[];
  filesystems: { MEMFS: { ops_table: OpsTable; stream_ops: { write: Operation } } };
  ErrnoError: new (code: number) => Error;
  mkdirTree(path: string): void;
  chdir(path: string): void;
  writeFile(path: string, bytes: Uint8Array, options?: { canOwn: boolean }): void;
  readFile(path: string): Uint8Array<ArrayBuffer>;
  mkdir(path: string): void;
  rmdir(path: string): void;
  unlink(path: string): void;
  chmod(path: string, mode: number): void;
  lookupPath(path: string, options?: { follow: boolean }): { node: Node };
  isDir(mode: number): boolean;
  isFile(mode: number): boolean;
}

/** A file, a folder or a link in memory. */
export interface Node {
  mode: number;
  /** For a file: its content. Only the first `usedBytes` bytes count. */
  contents: Record<string, Node> | Uint8Array | Int8Array | null;
  usedBytes?: number;
}

export interface OpsTable {
  dir: { node: { mknod: Operation; symlink: Operation } };
  file: { node: { setattr: Operation }; stream: { write: Operation } };
}

// biome-ignore lint/suspicious/noExplicitAny: replaced
export type Operation = (...values: any[]) => unknown;
