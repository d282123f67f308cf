import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { download } from "../../src/base/files/download.ts";

const name = "llama-cpp-python";
const version = "0.3.36";
const sha256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e";

/**
 * llama.cpp's folder `models` in the user's cache: vocabularies as GGUF files, texts with the ids that the models' own
 * tokenizers give them, and chat templates. The first call downloads them with pip, which takes their SHA-256 to be the
 * fixed one before it looks inside. Throws PACKAGE_FETCH_FAILED.
 */
export function fetchLlamaCpp(): Promise<string> {
  return cachedFolder(join(cacheFolder(), "tests", `${name}-${version}`), async (unpacked) => {
    const requirements = join(unpacked, "requirements.txt");
    await writeFile(requirements, `${name}==${version} --hash=sha256:${sha256}\n`);
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", `--no-binary=${name}`];
    const wanted = {
      package: `${name} ${version}`,
      sha256,
      command: "python3",
      arguments: (folder: string) => [...pip, "--dest", folder, "--requirement", requirements],
    };
    await download(wanted, async (file) => {
      const models = `${name.replaceAll("-", "_")}-${version}/vendor/llama.cpp/models`;
      await promisify(execFile)("tar", ["-xzf", file, "-C", unpacked, "--strip-components=4", models]);
    });
  });
}
