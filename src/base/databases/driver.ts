import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Unusable } from "./unusable.ts";

/** Loads a database's package from the caller's installed modules. Throws Unusable if it is missing. */
export async function driver<Api>(name: string, modules: string): Promise<Api> {
  let file: string;
  try {
    file = createRequire(modules).resolve(name);
  } catch {
    throw new Unusable(`${name} is not installed`, name);
  }
  return import(pathToFileURL(file).href);
}
