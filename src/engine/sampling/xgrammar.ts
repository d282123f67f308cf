import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";

type Xgrammar = typeof import("@mlc-ai/web-xgrammar");

const require = createRequire(import.meta.url);
let loaded: Xgrammar | undefined;

/**
 * Loads the grammar library (https://github.com/mlc-ai/xgrammar, compiled to WebAssembly). Its package declares a
 * CommonJS file as an ES module, which Node can't import. So it is compiled here as CommonJS.
 */
export function loadXgrammar(): Xgrammar {
  if (loaded) return loaded;
  const path = require.resolve("@mlc-ai/web-xgrammar");
  const source = readFileSync(path, "utf8").replaceAll("await import('module')", "require('module')");
  const module: { exports: unknown } = { exports: {} };
  const compiled = compileFunction(source, ["module", "exports", "require", "__filename"], {
    filename: path,
  });
  compiled(module, module.exports, require, path);
  if (!isXgrammar(module.exports)) throw new TypeError("@mlc-ai/web-xgrammar lacks what Everturn calls");
  loaded = module.exports;
  return loaded;
}

function isXgrammar(value: unknown): value is Xgrammar {
  return typeof value === "object" && value !== null && "GrammarMatcher" in value;
}
