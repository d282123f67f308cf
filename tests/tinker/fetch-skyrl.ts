import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";

const run = promisify(execFile);
const requirements = join(import.meta.dirname, "skyrl-requirements.txt");

/**
 * The virtual environment of SkyRL's published server in the user's cache. The first call installs it with uv, which pip
 * downloads: 6.3 GB. uv finds or fetches Python 3.12, unless UV_PYTHON names one.
 */
export async function fetchSkyrl(): Promise<string> {
  const folder = await cachedFolder(join(cacheFolder(), "tests", "skyrl-0.4.0"), async (unpacked) => {
    const [tools, environment] = [join(unpacked, "tools"), join(unpacked, "venv")];
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", tools];
    await run("python3", [...pip, "uv==0.13.9"]);
    const uv = join(tools, "bin", "uv");
    await run(uv, [
      "venv",
      "--quiet",
      "--relocatable",
      "--python",
      process.env.UV_PYTHON ?? "3.12",
      environment,
    ]);
    const python = join(environment, "bin", "python");
    const options = { maxBuffer: 2 ** 26 };
    await run(uv, ["pip", "install", "--quiet", "--python", python, "--requirements", requirements], options);
  });
  return join(folder, "venv");
}
