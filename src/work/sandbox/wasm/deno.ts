import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The packages of this sandbox, as the requesting module resolves them. */
export interface WasmPackages {
  /** The path of Deno's executable. */
  deno: string;
  denoVersion: string;
  /** Folders. */
  pyodide: string;
  /** QuickJS and its bindings. Undefined if they are not installed. */
  quickjs: { core: string; variant: string; types: string } | undefined;
}

const targets: Record<string, string> = {
  "win32-x64": "win32-x64",
  "win32-arm64": "win32-arm64",
  "darwin-x64": "darwin-x64",
  "darwin-arm64": "darwin-arm64",
  "linux-x64": "linux-x64-glibc",
  "linux-arm64": "linux-arm64-glibc",
};

const core = "quickjs-emscripten-core";
const variant = "@jitl/quickjs-singlefile-mjs-release-sync";

/**
 * Finds the packages from the module `from`, and Deno also on PATH. If any are missing, returns what to
 * install as part of a sentence.
 */
export async function findPackages(from: URL | string): Promise<WasmPackages | { missing: string }> {
  const at = createRequire(from);
  const [deno, pyodide] = [packagedDeno(at) ?? denoOnPath(), folderOf(at, "pyodide")];
  if (deno === undefined || pyodide === undefined) {
    const wanted = [deno === undefined ? "deno" : "", pyodide === undefined ? "pyodide" : ""].filter(Boolean);
    return { missing: `\`npm install ${[...wanted, core, variant].join(" ")}\` next to ${placeOf(from)}` };
  }
  const { stdout } = await run(deno, ["--version"]);
  const [bindings, module] = [folderOf(at, core), folderOf(at, variant)];
  const types =
    bindings && folderOf(createRequire(join(bindings, "package.json")), "@jitl/quickjs-ffi-types");
  return {
    deno,
    denoVersion: /^deno (\S+)/.exec(stdout)?.[1] ?? "unknown",
    pyodide,
    quickjs: bindings && module && types ? { core: bindings, variant: module, types } : undefined,
  };
}

const program = process.platform === "win32" ? "deno.exe" : "deno";

/**
 * npm runs no unapproved install script. That of the package `deno` only copies this executable to its own
 * folder.
 */
function packagedDeno(at: NodeJS.Require): string | undefined {
  const target = targets[`${process.platform}-${process.arch}`];
  const deno = target && folderOf(at, "deno");
  const folder = deno && folderOf(createRequire(join(deno, "package.json")), `@deno/${target}`);
  const path = folder && join(folder, program);
  return path && existsSync(path) ? path : undefined;
}

function denoOnPath(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** The folder of a package, even if the package does not export its package.json. */
function folderOf(at: NodeJS.Require, name: string): string | undefined {
  for (const folder of at.resolve.paths(name) ?? []) {
    if (existsSync(join(folder, name, "package.json"))) return join(folder, name);
  }
  return undefined;
}

function placeOf(from: URL | string): string {
  const text = String(from);
  return dirname(text.startsWith("file:") ? fileURLToPath(text) : text);
}
