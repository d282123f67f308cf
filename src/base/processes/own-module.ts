import { dirname, extname, join } from "node:path";

/** Everturn's own folder: a clone, or the real location of the installed package. */
export const everturnFolder: string = join(import.meta.dirname, "..", "..", "..");

/** The `node_modules` folders that Everturn's own imports search, nearest first. */
export const everturnModules: readonly string[] = upwards(everturnFolder).map((folder) =>
  join(folder, "node_modules"),
);

/**
 * The path of one of Everturn's own modules, named like `src/apps/cli/main`: TypeScript in a clone, JavaScript in
 * the published package.
 */
export function ownModule(name: string): string {
  return join(everturnFolder, `${name}${extname(import.meta.filename)}`);
}

/** A folder and all its parents. */
export function upwards(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}
