import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { findExecutable } from "../../plugins/tool-browser/executable.ts";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { download } from "../../src/base/files/download.ts";

const npmPackage = {
  package: "@sparticuz/chromium@149.0.0",
  sha256: "c74b05fb40abd605c245f6ab33ec324aa9510c7b3eca3ec35740fab767960c03",
};

/** The path of a Chromium: this machine's, or one that is downloaded once (linux x64); else says why there is none. */
export async function chromiumHere(): Promise<string | undefined> {
  try {
    return await findExecutable(undefined).catch(fetched);
  } catch (error) {
    process.stderr.write(`Tests of browsers are skipped on this machine: ${messageOf(error)}\n`);
    return undefined;
  }
}

async function fetched(): Promise<string> {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error("there is no Chromium");
  const folder = await cachedFolder(join(cacheFolder(), "tests", "chromium-149.0.0"), unpack);
  process.env.LD_LIBRARY_PATH = [join(folder, "lib"), process.env.LD_LIBRARY_PATH]
    .filter((one) => one !== undefined)
    .join(delimiter);
  return join(folder, "chromium");
}

function unpack(folder: string): Promise<void> {
  const pack = (to: string) => ["pack", npmPackage.package, "--silent", "--pack-destination", to];
  return download({ ...npmPackage, command: "npm", arguments: pack }, async (file) => {
    const members = ["chromium.br", "al2023.tar.br"];
    const paths = members.map((name) => join("package", "bin", name));
    execFileSync("tar", ["-xzf", file, "-C", folder, "--strip-components=2", ...paths]);
    for (const name of members) {
      const packed = join(folder, name);
      writeFileSync(packed.slice(0, -".br".length), brotliDecompressSync(readFileSync(packed)));
      rmSync(packed);
    }
    execFileSync("tar", ["-xf", join(folder, "al2023.tar"), "-C", folder]);
    chmodSync(join(folder, "chromium"), 0o755);
  });
}
