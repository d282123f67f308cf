import { resolve } from "node:path";
import type { Command } from "commander";
import { displayPath } from "../../../../base/validation/place.ts";
import { buildPackage } from "../../../../plugin/define/build-package.ts";

/** `everturn plugin build [folder]`: writes JavaScript, declarations and the manifest of a plugin's package. */
export function registerBuild(parent: Command): void {
  parent
    .command("build")
    .description("build a plugin package: JavaScript, type declarations and manifest")
    .argument("[folder]", "folder of the package", ".")
    .action(async (folder: string) => {
      process.stdout.write(`${displayPath(await buildPackage(resolve(folder)))} is written\n`);
    });
}
