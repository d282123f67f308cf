/** The parts of Deno and of web workers that this folder uses. Its files run nowhere else. */
declare namespace Deno {
  const args: string[];
  const stdin: { readable: AsyncIterable<Uint8Array> };
  const stdout: { writeSync(bytes: Uint8Array): number };
  function readFileSync(path: URL | string): Uint8Array<ArrayBuffer>;
  function writeFileSync(path: URL | string, bytes: Uint8Array): void;
  function memoryUsage(): { rss: number };
  function exit(code?: number): never;
}

declare class Worker extends EventTarget {
  constructor(url: URL, options: { type: "module" });
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: Event & { message: string }) => void) | null;
  terminate(): void;
}

declare namespace WebAssembly {
  function instantiate(module: Module, imports: object): Promise<Instance>;
}

declare function postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
declare function addEventListener(type: "message", listener: (event: MessageEvent) => void): void;

interface Uint8Array {
  toBase64(): string;
}

interface Uint8ArrayConstructor {
  fromBase64(text: string): Uint8Array<ArrayBuffer>;
}
