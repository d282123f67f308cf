import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { openSandbox, type Sandbox } from "everturn/sandbox";
import { isEverturnError } from "../../src/base/errors/everturn-error.ts";
import { messageOf } from "../../src/base/errors/message-of.ts";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";

/** bubblewrap's sandbox, with a package of the system's in the user's cache if none is installed; else says why there is none. */
export async function bubblewrapHere(): Promise<Sandbox | undefined> {
  try {
    return await opened().catch(async (error: unknown) => {
      if (!messageOf(error).includes("bwrap is not on PATH")) throw error;
      process.env.PATH = [process.env.PATH, join(await unpacked(), "usr", "bin")].join(delimiter);
      return await opened();
    });
  } catch (error) {
    if (isEverturnError(error) && error.code !== "SANDBOX_MISSING") throw error;
    process.stderr.write(`Tests of bubblewrap are skipped on this machine: ${messageOf(error)}\n`);
    return undefined;
  }
}

function opened(): Promise<Sandbox> {
  return openSandbox("bubblewrap", { modules: import.meta.url });
}

function unpacked(): Promise<string> {
  return cachedFolder(join(cacheFolder(), "tests", "bubblewrap"), async (folder) => {
    if (!existsSync("/usr/bin/apt-get")) throw new Error("there is no apt-get to fetch bubblewrap with");
    const packages = join(folder, "packages");
    execFileSync("mkdir", [packages]);
    execFileSync("apt-get", ["download", "bubblewrap"], { cwd: packages, stdio: "ignore" });
    for (const name of readdirSync(packages)) execFileSync("dpkg-deb", ["-x", join(packages, name), folder]);
  });
}
