import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";

const run = promisify(execFile);
const harbor = "harbor==0.26.0";
/** The only package that Harbor's models of trajectories import. */
const pydantic = "pydantic==2.14.4";

/** Validates each file, and prints the errors of each as JSON. */
const program = `
import json, sys
from harbor.utils.trajectory_validator import TrajectoryValidator
validator = TrajectoryValidator()
print(json.dumps([[] if validator.validate(path) else validator.errors for path in sys.argv[1:]]))
`;

/**
 * Validates trajectory files with Harbor's own validator, including the paths of images. Returns the errors of each. The
 * first call installs Harbor without its other dependencies into the user's cache (30 MB). It needs Python 3.12 with pip
 * as `python`.
 */
export async function harborErrors(python: string, files: readonly string[]): Promise<string[][]> {
  const packages = await cachedFolder(join(cacheFolder(), "tests", "harbor-0.26.0"), async (unpacked) => {
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
    await run(python, [...pip, "--target", unpacked, pydantic]);
    await run(python, [...pip, "--target", unpacked, "--no-deps", harbor]);
  });
  const env = { ...process.env, PYTHONPATH: packages };
  const { stdout } = await run(python, ["-c", program, ...files], { env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}
