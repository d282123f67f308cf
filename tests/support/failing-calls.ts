import fs from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/**
 * Lets the next call of Node's file system that `isIt` holds for fail with the operating system's `code`, as it does on a
 * bad disk or a network file system; `afterwards`: once it has done its work.
 */
export function failOnce(
  name:
    | "fsyncSync"
    | "lstatSync"
    | "mkdirSync"
    | "openSync"
    | "linkSync"
    | "readFileSync"
    | "readdirSync"
    | "rmSync"
    | "statSync"
    | "unlinkSync"
    | "open"
    | "readdir",
  code: string,
  isIt: (parameters: unknown[]) => boolean,
  moment?: "afterwards",
): void {
  const module = name === "open" || name === "readdir" ? promises : fs;
  const real = Reflect.get(module, name);
  const restore = () => replace(real);
  onTestFinished(restore);
  replace((...parameters: unknown[]) => {
    const fails = isIt(parameters);
    if (fails) restore();
    const error = Object.assign(new Error(`${code}: made to fail, ${name}`), { code });
    if (!fails || moment === "afterwards") {
      const result = Reflect.apply(real, module, parameters);
      if (!fails) return result;
    }
    if (module === promises) return Promise.reject(error);
    throw error;
  });

  function replace(call: unknown): void {
    Reflect.set(module, name, call);
    syncBuiltinESMExports();
  }
}
