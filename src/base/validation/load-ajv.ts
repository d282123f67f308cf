import { createRequire } from "node:module";

/**
 * Loads ajv on first use. It takes 40 ms, which each plugin thread that imports everturn/plugin would waste
 * otherwise.
 */
export function loadAjv(): typeof import("ajv") {
  return createRequire(import.meta.url)("ajv");
}
