import { adamWModule } from "./adamw-module.ts";

type NumbersFunction = (...numbers: number[]) => unknown;

/** The functions of adamw.wat. They work on numbers in one memory, given by their addresses. */
export type AdamWFunctions = Readonly<
  Record<"update" | "squares" | "add" | "quantize" | "dequantize", NumbersFunction>
>;

/** Bytes per page of WebAssembly's memory. */
export const pageBytes = 65_536;

/** Allocates zeroed memory that threads share. Throws RangeError if the system has no room for it. */
export function sharedMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.ceil(bytes / pageBytes);
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/** Returns a function that opens the functions over a memory. All memories share the compiled code. */
export function openAdamWModule(): (memory: WebAssembly.Memory) => AdamWFunctions {
  const module = new WebAssembly.Module(Buffer.from(adamWModule, "base64"));
  return (memory) => {
    const { exports } = new WebAssembly.Instance(module, { adamw: { memory } });
    const found = (name: string) => {
      const one = exports[name];
      if (!one) throw new TypeError(`adamw.wat exports no ${name}`);
      return one;
    };
    return {
      update: found("update"),
      squares: found("squares"),
      add: found("add"),
      quantize: found("quantize"),
      dequantize: found("dequantize"),
    };
  };
}
