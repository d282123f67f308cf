import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { cacheFolder } from "../../base/files/cache-folder.ts";
import { cachedFolder } from "../../base/files/cached-folder.ts";
import { download } from "../../base/files/download.ts";
import { loadLibrary } from "./native-library.ts";

const run = promisify(execFile);
const decompress = promisify(brotliDecompress);

/** A headless browser for servers, which includes a Vulkan driver that needs no card. */
const npmPackage = {
  name: "@sparticuz/chromium",
  version: "149.0.0",
  sha256: "c74b05fb40abd605c245f6ab33ec324aa9510c7b3eca3ec35740fab767960c03",
};

/**
 * Makes WebGPU work in this process (linux x64) without a card, but slowly, with SwiftShader, a Vulkan driver for the
 * CPU. The first call downloads it (70 MB) with npm into the user's cache. For tests. Call it on the main thread before
 * anything uses WebGPU. Throws PACKAGE_FETCH_FAILED if the download fails.
 */
export async function useSwiftShader(): Promise<void> {
  const folder = join(cacheFolder(), `swiftshader-${npmPackage.version}`);
  await cachedFolder(folder, fetchSwiftShader);
  process.env.VK_DRIVER_FILES = join(folder, "vk_swiftshader_icd.json");
  const reason = loadLibrary("libvulkan.so.1") && loadLibrary(join(folder, "libvulkan.so.1"));
  if (reason !== undefined) throw new Error(`SwiftShader's Vulkan loader does not load: ${reason}`);
}

function fetchSwiftShader(unpacked: string): Promise<void> {
  const { name, version, sha256 } = npmPackage;
  const wanted = `${name}@${version}`;
  const pack = (folder: string) => ["pack", wanted, "--silent", "--pack-destination", folder];
  return download({ package: wanted, sha256, command: "npm", arguments: pack }, async (file) => {
    const member = join("package", "bin", "swiftshader.tar.br");
    await run("tar", ["-xzf", file, "-C", unpacked, "--strip-components=2", member]);
    const archive = join(unpacked, "swiftshader.tar");
    await writeFile(archive, await decompress(await readFile(join(unpacked, "swiftshader.tar.br"))));
    await run("tar", ["-xf", archive, "-C", unpacked]);
  });
}
