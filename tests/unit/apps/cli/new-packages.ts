import { execFile } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

export const root = join(import.meta.dirname, "..", "..", "..", "..");
/** A folder of new packages, in which Everturn and TypeScript are installed. */
export const folder = realpathSync(temporaryFolder());
for (const name of ["everturn", "typescript", "@types/node"]) {
  const link = join(folder, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(name === "everturn" ? root : join(root, "node_modules", name), link);
}

/** Runs a command of `everturn plugin` in a folder next to the new packages. Returns its output or its error. */
export async function plugin(at: string, ...parameters: string[]): Promise<string> {
  const cli = [join(root, "bin", "everturn.js"), "plugin", ...parameters];
  return promisify(execFile)(process.execPath, cli, { cwd: join(folder, at) }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }) => stdout + stderr,
  );
}
