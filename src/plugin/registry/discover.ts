import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { everturnFolder, everturnModules, upwards } from "../../base/processes/own-module.ts";
import { isObject } from "../../contracts/json.ts";

/** The manifest's file name in a plugin's folder. */
export const manifestName = "everturn.plugin.json";

/**
 * A name of a plugin that was found, and its folder. `name` and `kind` are the manifest's values as far as it
 * can be read.
 */
export interface FoundPlugin {
  readonly name: string;
  /** The plugin's own name, if `name` is an alias. */
  readonly aliasOf?: string;
  /**
   * The name in the folder's package.json, if it has one. A pipeline may also use this name. For an alias, the
   * alias replaces the part after the scope.
   */
  readonly package: string | undefined;
  readonly kind: unknown;
  readonly folder: string;
}

/**
 * Returns every plugin that a pipeline in `start` can name: from `folders` (--plugins), from the `plugins/`
 * and `node_modules/` of `start` and each folder above it, and Everturn's own plugins, unless `node_modules/`
 * contains a plugin of the same name. Sorted by name. Each folder appears once, and once more for each alias.
 */
export function discoverPlugins(start: string, folders: readonly string[] = []): FoundPlugin[] {
  const above = upwards(start);
  const written = [...folders, ...above.map((folder) => join(folder, "plugins"))].flatMap(subfolders);
  const packages = above.map((folder) => join(folder, "node_modules")).flatMap(subfolders);
  const scoped = packages.filter((path) => basename(path).startsWith("@")).flatMap(subfolders);
  const installed = pluginsAt([...packages, ...scoped]);
  const names = new Set(installed.map(({ name }) => name));
  const own = pluginsAt(ownPlaces()).filter(({ name, aliasOf = name }) => !names.has(aliasOf));
  const places = [...folders, ...written, ...[...installed, ...own].map(({ folder }) => folder)];
  return pluginsAt(places).sort((a, b) => a.name.localeCompare(b.name));
}

/** The folders of Everturn's own plugins: workspaces in a clone, dependencies in an installation. */
function ownPlaces(): string[] {
  const clone = join(everturnFolder, "plugins");
  return [clone, ...everturnModules.map((folder) => join(folder, "@everturn"))].flatMap(subfolders);
}

function pluginsAt(candidates: readonly string[]): FoundPlugin[] {
  const folders = candidates.filter(hasManifest).map((folder) => realpathSync(folder));
  return [...new Set(folders)].flatMap(glance);
}

/** Whether `folder` contains a manifest. */
export function hasManifest(folder: string): boolean {
  return existsSync(join(folder, manifestName));
}

function subfolders(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(folder, entry.name));
}

/**
 * Reads names and kind as far as possible. A broken manifest is still found, and reported where a pipeline
 * uses it.
 */
function glance(folder: string): FoundPlugin[] {
  const text = readFileSync(join(folder, manifestName), "utf8");
  const named = packageOf(folder);
  try {
    const said: { name?: unknown; kind?: unknown; aliases?: unknown } = JSON.parse(text);
    const { kind } = said;
    const name = typeof said.name === "string" ? said.name : basename(folder);
    const aliases = (Array.isArray(said.aliases) ? said.aliases : []).flatMap(
      (one: unknown): FoundPlugin[] => {
        if (!isObject(one) || typeof one.name !== "string") return [];
        return [{ name: one.name, aliasOf: name, package: named?.replace(/[^/]+$/, one.name), kind, folder }];
      },
    );
    return [{ name, package: named, kind, folder }, ...aliases];
  } catch {
    const name = /"name"\s*:\s*"([^"]+)"/.exec(text)?.[1];
    return [{ name: name ?? basename(folder), package: named, kind: undefined, folder }];
  }
}

/** The name of the package in `folder`. Undefined if it has no readable package. */
export function packageOf(folder: string): string | undefined {
  try {
    const { name }: { name?: unknown } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}
