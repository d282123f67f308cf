/** What of a `package.json` concerns the form that is published. */
export interface Package {
  name: string;
  bin?: Record<string, string>;
  exports?: Record<string, string>;
  files?: string[];
  repository?: { type: string; url: string; directory?: string };
  [key: string]: unknown;
}

/** What only a clone has a use for. */
const ofTheClone = ["allowScripts", "devDependencies", "overrides", "private", "scripts", "workspaces"];

/** What the root's `package.json` says for all packages: where the project lives, and how it is published. */
const ofAll = ["bugs", "homepage", "publishConfig", "repository"];

/**
 * The `package.json` that is published for one in `folder` of the clone, whose root has `root`: it names JavaScript and
 * declarations.
 */
export function published(description: Package, folder: string, root: Package): Record<string, unknown> {
  const { exports = {} } = description;
  const kept = Object.entries(description).filter(([key]) => !ofTheClone.includes(key));
  const shared = Object.entries(root).filter(([key]) => ofAll.includes(key));
  const { repository } = root;
  return {
    ...Object.fromEntries([...kept, ...shared]),
    exports: Object.fromEntries(Object.entries(exports).map(([name, file]) => [name, entry(file)])),
    ...(repository && folder !== "" ? { repository: { ...repository, directory: folder } } : {}),
  };
}

/** A plugin's manifest as it is published: what it names is JavaScript. */
export function publishedManifest(manifest: Record<string, unknown>): Record<string, unknown> {
  const files = ["entry", "workflow"].flatMap((key) => {
    const file = manifest[key];
    return typeof file === "string" ? [[key, javascript(file)]] : [];
  });
  return {
    ...manifest,
    ...Object.fromEntries([...files, ...loopFiles(manifest)]),
    $schema: "../../everturn/schemas/plugin.schema.json",
  };
}

/** The loop of an environment's manifest, whose paths begin with ./. */
function loopFiles({ loop }: Record<string, unknown>): [string, unknown][] {
  const { config = {}, ...rest } = Object(loop);
  const named = Object.entries(config).map(([key, value]) => [
    key,
    typeof value === "string" && value.startsWith("./") ? javascript(value) : value,
  ]);
  return loop === undefined ? [] : [["loop", { ...rest, config: Object.fromEntries(named) }]];
}

function entry(file: string): string | { types: string; default: string } {
  if (!file.endsWith(".ts")) return file;
  return { types: file.replace(/\.ts$/, ".d.ts"), default: javascript(file) };
}

function javascript(file: string): string {
  return file.replace(/\.ts$/, ".js");
}
