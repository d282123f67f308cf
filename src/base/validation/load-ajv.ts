import { createRequire } from "node:module";

/** ajv, loaded when first needed: it takes 40 ms, and each plugin's thread that imports everturn/plugin would load it for nothing. */
export function loadAjv(): typeof import("ajv") {
  return createRequire(import.meta.url)("ajv");
}
