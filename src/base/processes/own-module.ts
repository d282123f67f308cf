import { dirname, extname, join } from "node:path";

/** The folder of Everturn itself: a clone, or wherever the installed package really lies. */
export const everturnFolder: string = join(import.meta.dirname, "..", "..", "..");

/** The `node_modules` folders in which Everturn's own imports are looked for, nearest first. */
export const everturnModules: readonly string[] = upwards(everturnFolder).map((folder) =>
  join(folder, "node_modules"),
);

/** A module of Everturn's own, named as `src/apps/cli/main`: TypeScript in a clone, JavaScript as it is published. */
export function ownModule(name: string): string {
  return join(everturnFolder, `${name}${extname(import.meta.filename)}`);
}

/** A folder and each one above it. */
export function upwards(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}
