import { limitMemory } from "./memory-limit.ts";
import type { PythonParts } from "./protocol.ts";

const mebibyte = 2 ** 20;

/** Reads the parts of Python from this file's folder. Its memory is limited to `memory` MiB. */
export function pythonParts(memory: number): PythonParts {
  const snapshot = optional("snapshot.bin");
  const packages = optional("packages.zip");
  const least = snapshot?.length ?? 0;
  return {
    module: new WebAssembly.Module(limitMemory(read("pyodide.asm.wasm"), least, memory * mebibyte)),
    library: read("python_stdlib.zip"),
    info: JSON.parse(text("lock-info.json")),
    driver: text("driver.py"),
    warm: text("warm.py"),
    ...(packages === undefined ? {} : { packages }),
    ...(snapshot === undefined ? {} : { snapshot }),
  };
}

/** The JavaScript code with the globals of programs. */
export function prelude(): string {
  return text("prelude.quickjs");
}

function read(name: string): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(new URL(name, import.meta.url));
}

function text(name: string): string {
  return new TextDecoder().decode(read(name));
}

function optional(name: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return read(name);
  } catch {
    return undefined;
  }
}
