import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../../base/files/cache-folder.ts";
import { cachedFolder } from "../../../base/files/cached-folder.ts";
import { fetchWheel } from "../../../base/files/wheel.ts";
import type { SandboxOptions } from "../backend.ts";
import type { WasmPackages } from "./deno.ts";

const run = promisify(execFile);
const guest = join(import.meta.dirname, "guest");

const imports = {
  "quickjs-emscripten-core": "./core/index.mjs",
  "@jitl/quickjs-singlefile-mjs-release-sync": "./variant/index.mjs",
  "@jitl/quickjs-ffi-types": "./types/index.mjs",
};

/** The files with which Deno starts. */
export interface Runtime {
  deno: string;
  /** The only folder that it may read. Programs may read all of it, so it contains only what Deno runs. */
  folder: string;
  /** Where Deno keeps its compiled code. */
  cache: string;
  hasJavascript: boolean;
}

/**
 * Makes the folder once for these packages and this version of Everturn, with the memory of a started Python
 * from which others begin. Keeps it in the user's cache. Throws PACKAGE_FETCH_FAILED.
 */
export async function runtimeFolder(
  packages: WasmPackages,
  python: SandboxOptions["python"],
): Promise<Runtime> {
  const { deno, denoVersion, pyodide, quickjs } = packages;
  const own = (await readdir(guest)).filter(
    (name) => /(\.ts|\.js|\.py|\.quickjs)$/.test(name) && !name.endsWith(".d.ts"),
  );
  const hash = createHash("sha256");
  for (const name of own) hash.update(name).update(await readFile(join(guest, name)));
  for (const folder of [pyodide, quickjs?.core, quickjs?.variant])
    if (folder !== undefined) hash.update(await readFile(join(folder, "package.json")));
  hash.update(JSON.stringify([denoVersion, python ?? null]));
  const sandboxes = join(cacheFolder(), "sandboxes");
  const runtime = (folder: string): Runtime => ({
    deno,
    folder,
    cache: join(sandboxes, `deno-${denoVersion}`),
    hasJavascript: quickjs !== undefined,
  });
  const target = join(sandboxes, `wasm-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(target)) return runtime(target);
  await cachedFolder(target, async (unpacked) => {
    for (const name of own) await copyFile(join(guest, name), join(unpacked, name));
    await writeFile(join(unpacked, "import-map.json"), JSON.stringify({ imports }));
    await copyPyodide(pyodide, unpacked);
    if (quickjs !== undefined) await copyQuickJs(quickjs, unpacked);
    await writeFile(join(unpacked, "warm.py"), python?.warm ?? "");
    if (python !== undefined) await packPackages(python.packages, join(unpacked, "packages.zip"));
    await makeSnapshot(runtime(unpacked));
  });
  return runtime(target);
}

async function copyPyodide(from: string, into: string): Promise<void> {
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"])
    await copyFile(join(from, name), join(into, name));
  const { info } = JSON.parse(await readFile(join(from, "pyodide-lock.json"), "utf8"));
  await writeFile(join(into, "lock-info.json"), JSON.stringify(info));
}

async function copyQuickJs(from: WasmPackages["quickjs"] & {}, into: string): Promise<void> {
  for (const [name, folder] of Object.entries(from)) {
    await mkdir(join(into, name));
    const modules = (await readdir(join(folder, "dist"))).filter((file) => extname(file) === ".mjs");
    for (const file of modules) await copyFile(join(folder, "dist", file), join(into, name, file));
  }
}

/** Packs all packages into one zip file from which Python imports, without the tests that some contain. */
async function packPackages(
  wheels: readonly Parameters<typeof fetchWheel>[0][],
  file: string,
): Promise<void> {
  const folders: string[] = [];
  for (const wheel of wheels) folders.push(await fetchWheel(wheel));
  const script = [
    "import os, sys, zipfile",
    "with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as packed:",
    "  for top in sys.argv[2:]:",
    "    for at, below, names in os.walk(top):",
    "      below[:] = sorted(n for n in below if n not in ('tests', '__pycache__'))",
    "      for name in sorted(names): packed.write(os.path.join(at, name), os.path.relpath(os.path.join(at, name), top))",
  ].join("\n");
  await run("python3", ["-c", script, file, ...folders]);
}

async function makeSnapshot({ deno, folder, cache }: Runtime): Promise<void> {
  const script = join(folder, `make-snapshot${extname(import.meta.filename)}`);
  const rights = [`--allow-read=${folder}`, `--allow-write=${join(folder, "snapshot.bin")}`];
  await run(deno, [...denoArguments(folder), ...rights, script], { env: denoEnvironment(cache) });
}

/** Deno's arguments except its permissions. It fetches nothing and never prompts. */
export function denoArguments(folder: string): string[] {
  return [
    ..."run --quiet --no-prompt --no-remote --no-npm --cached-only --no-config --no-lock".split(" "),
    `--import-map=${join(folder, "import-map.json")}`,
    "--v8-flags=--disallow-code-generation-from-strings,--max-old-space-size=256",
  ];
}

export function denoEnvironment(cache: string): Record<string, string> {
  return { DENO_DIR: cache, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", HOME: cache };
}
