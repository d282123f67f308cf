/** The parts of WebAssembly that adamw.ts uses. TypeScript declares them only for browsers. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    readonly buffer: SharedArrayBuffer;
    constructor(descriptor: { initial: number; maximum: number; shared: true });
  }
  class Instance {
    readonly exports: Readonly<Record<string, (...numbers: number[]) => unknown>>;
    constructor(module: Module, imports: { adamw: { memory: Memory } });
  }
}
