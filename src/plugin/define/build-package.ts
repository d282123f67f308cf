import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { displayPath, placeAt } from "../../base/validation/place.ts";
import { refusal } from "../../base/validation/problem.ts";
import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import { manifestName } from "../registry/discover.ts";
import { checkManifest } from "../registry/manifest.ts";
import { resolveFile } from "./resolve-file.ts";

/**
 * Builds a plugin package: JavaScript and declarations with the package's own TypeScript, and a manifest
 * derived from the definition in its built entry. Returns the manifest's path. Throws PLUGIN_BUILD_FAILED,
 * WRONG_CONFIGURATION.
 */
export async function buildPackage(folder: string): Promise<string> {
  const path = join(folder, "package.json");
  const failed = (reason: string, hint: string) =>
    new EverturnError("PLUGIN_BUILD_FAILED", { folder: displayPath(folder), reason, hint });
  if (!existsSync(path))
    throw failed("it has no package.json", "`npx everturn plugin new` writes a package.");
  const description: JsonObject = JSON.parse(readFileSync(path, "utf8"));
  await compile(folder, failed);
  const entry = entryOf(description.exports) ?? description.main;
  if (typeof entry !== "string" || !existsSync(join(folder, entry))) {
    const reason = `its entry ${typeof entry === "string" ? entry : "“exports” of package.json"} is not there`;
    throw failed(
      reason,
      'Let exports["."].default name what its TypeScript writes, such as ./dist/index.js.',
    );
  }
  const place = placeAt(displayPath(join(folder, entry)), "", 0);
  const found = await resolveFile({ reference: { path: entry, name: "default" }, place, base: folder });
  if (found.manifest === undefined) throw refusal(place.file, found.problems);
  if (found.source.positions !== undefined)
    throw failed(
      "its default export is a plain function",
      "Write `export default defineTool({ … })` in a package.",
    );
  const { peerDependencies } = description;
  const range =
    peerDependencies !== undefined && isObject(peerDependencies) ? peerDependencies.everturn : undefined;
  if (typeof range !== "string")
    throw failed(
      "package.json does not name the everturn version that it supports",
      'Add "peerDependencies": { "everturn": "^…" }.',
    );
  const { manifest } = found;
  const manifestFile = join(folder, manifestName);
  const written = {
    ...manifest,
    name: String(description.name).split("/").at(-1),
    version: description.version ?? manifest.version,
    engines: { everturn: range },
    [manifest.kind === "loop" ? "workflow" : "entry"]: entry,
  };
  writeFileSync(manifestFile, `${JSON.stringify(written, undefined, 2)}\n`);
  const { problems } = checkManifest(folder);
  if (problems.length > 0) throw refusal(displayPath(manifestFile), problems);
  return manifestFile;
}

/** The module that imports of the package load. */
function entryOf(exports: JsonValue | undefined): JsonValue | undefined {
  if (exports === undefined || !isObject(exports)) return exports;
  return entryOf(exports["."] ?? exports.import ?? exports.default);
}

async function compile(
  folder: string,
  failed: (reason: string, hint: string) => EverturnError,
): Promise<void> {
  const compiler = compilerOf(folder);
  if (compiler === undefined)
    throw failed("its project has no TypeScript", "`npm install --save-dev typescript@6`.");
  try {
    await promisify(execFile)(process.execPath, [compiler, "--project", folder], { cwd: folder });
  } catch (error) {
    const { stdout = "" }: { stdout?: string } = Object(error);
    const lines = stdout.trim() === "" ? String(error) : stdout.trim();
    throw failed(
      `TypeScript reports errors:\n${lines.replace(/\.$/, "")}`,
      "Correct it, or its tsconfig.json.",
    );
  }
}

/** The TypeScript compiler of a folder's project. */
function compilerOf(folder: string): string | undefined {
  try {
    const path = createRequire(join(folder, "package.json")).resolve("typescript/package.json");
    return join(dirname(path), "bin", "tsc");
  } catch {
    return undefined;
  }
}
