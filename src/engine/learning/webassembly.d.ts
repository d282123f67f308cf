/** What adamw.ts uses of WebAssembly, which TypeScript declares for browsers alone. */
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
