import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";

const run = promisify(execFile);

/** The published servers, and the files here that fix their versions. */
const servers = {
  skyrl: { folder: "skyrl-0.4.0", requirements: "skyrl-requirements.txt" },
  hatchery: { folder: "hatchery-core-0.3.0", requirements: "hatchery-requirements.txt" },
};

/**
 * The virtual environment of a published server in the user's cache. The first call installs it with uv, which pip downloads: 6 to
 * 7 GB. uv finds or fetches Python 3.12, unless UV_PYTHON names one.
 */
export async function fetchEnvironment(server: keyof typeof servers): Promise<string> {
  const { folder: name, requirements } = servers[server];
  const folder = await cachedFolder(join(cacheFolder(), "tests", name), async (unpacked) => {
    const [tools, environment] = [join(unpacked, "tools"), join(unpacked, "venv")];
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", tools];
    await run("python3", [...pip, "uv==0.13.9"]);
    const uv = join(tools, "bin", "uv");
    const python = process.env.UV_PYTHON ?? "3.12";
    await run(uv, ["venv", "--quiet", "--relocatable", "--python", python, environment]);
    const target = ["--python", join(environment, "bin", "python")];
    const file = ["--requirements", join(import.meta.dirname, requirements)];
    await run(uv, ["pip", "install", "--quiet", ...target, ...file], { maxBuffer: 2 ** 26 });
  });
  return join(folder, "venv");
}
