import { execFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";
import { download } from "../../src/base/files/download.ts";

const run = promisify(execFile);

/** The program of Deno for linux on x64. The package `deno` names those of all platforms, which not every registry has. */
const npmPackage = {
  name: "@deno/linux-x64-glibc",
  version: "2.9.6",
  sha256: "a6596af07f3570b4f1ffa6783bfee9942aac14a719a601baa6bf5b71bf0105e2",
};

/** Puts Deno on PATH, downloaded with npm into the user's cache the first time (40 MB); false, saying why, where it can't. */
export async function denoHere(): Promise<boolean> {
  try {
    if (process.platform !== "linux" || process.arch !== "x64")
      throw new Error("it is for linux on x64 that they fetch Deno");
    const { name, version, sha256 } = npmPackage;
    const wanted = `${name}@${version}`;
    const pack = (into: string) => ["pack", wanted, "--silent", "--pack-destination", into];
    const folder = await cachedFolder(join(cacheFolder(), "tests", `deno-${version}`), (unpacked) =>
      download({ package: wanted, sha256, command: "npm", arguments: pack }, async (file) => {
        await run("tar", ["-xzf", file, "-C", unpacked, "--strip-components=1"]);
      }),
    );
    process.env.PATH = [folder, process.env.PATH].join(delimiter);
    return true;
  } catch (error) {
    process.stderr.write(`Tests in Deno are skipped on this machine: ${messageOf(error)}\n`);
    return false;
  }
}
