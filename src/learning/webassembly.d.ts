/** What adamw.ts uses of WebAssembly, which TypeScript declares for browsers alone. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    readonly buffer: ArrayBuffer;
    constructor(descriptor: { initial: number });
  }
  class Instance {
    readonly exports: Readonly<Record<string, Memory | ((...numbers: number[]) => unknown)>>;
    constructor(module: Module);
  }
}
