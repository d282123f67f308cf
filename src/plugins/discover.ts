import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The manifest's file name in a plugin's folder. */
export const manifestName = "everturn.plugin.json";

/** A folder with a manifest. `name` and `kind` are what the manifest says, as far as it can be read. */
export interface FoundPlugin {
  readonly name: string;
  readonly kind: unknown;
  readonly folder: string;
}

const builtIn = join(import.meta.dirname, "..", "..", "plugins");

/**
 * Every plugin that a pipeline in `start` can name: of `folders` (--plugins), of the `plugins/` and `node_modules/`
 * of `start` and each folder above it, and those that come with Everturn. Sorted by name, each folder once.
 */
export function discoverPlugins(start: string, folders: readonly string[] = []): FoundPlugin[] {
  const above = ancestors(start);
  const packages = above.map((folder) => join(folder, "node_modules"));
  const scopes = packages.flatMap((folder) =>
    subfolders(folder).filter((path) => basename(path).startsWith("@")),
  );
  const parents = [
    ...folders,
    ...above.map((folder) => join(folder, "plugins")),
    builtIn,
    ...packages,
    ...scopes,
  ];
  const candidates = [...folders, ...parents.flatMap(subfolders)].filter(hasManifest);
  const unique = [...new Set(candidates.map((folder) => realpathSync(folder)))];
  return unique.map(glance).sort((a, b) => a.name.localeCompare(b.name));
}

/** Whether `folder` holds a manifest. */
export function hasManifest(folder: string): boolean {
  return existsSync(join(folder, manifestName));
}

function ancestors(start: string): string[] {
  const up = dirname(start);
  return up === start ? [start] : [start, ...ancestors(up)];
}

function subfolders(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(folder, entry.name));
}

/** Name and kind as far as they can be read: a broken manifest is still found, and reported where it is used. */
function glance(folder: string): FoundPlugin {
  const text = readFileSync(join(folder, manifestName), "utf8");
  try {
    const { name, kind }: { name?: unknown; kind?: unknown } = JSON.parse(text);
    return { name: typeof name === "string" ? name : basename(folder), kind, folder };
  } catch {
    const name = /"name"\s*:\s*"([^"]+)"/.exec(text)?.[1];
    return { name: name ?? basename(folder), kind: undefined, folder };
  }
}
