import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "../../src/base/files/cache-folder.ts";
import { cachedFolder } from "../../src/base/files/cached-folder.ts";

const run = promisify(execFile);
const requirements = join(import.meta.dirname, "parquet-readers.txt");

/** Why Python can't read a file here; undefined if it can. */
export async function whyNoPython(): Promise<string | undefined> {
  try {
    await run("python3", ["-m", "pip", "--version"]);
    return undefined;
  } catch (error) {
    return `there is no python3 with pip: ${String(error)}`;
  }
}

/**
 * Runs a Python program that can import pandas, pyarrow and duckdb, at fixed versions; what it printed, as JSON. The first
 * call installs them with pip into the user's cache.
 */
export async function python<Result>(program: string, ...args: string[]): Promise<Result> {
  const name = createHash("sha256").update(readFileSync(requirements)).digest("hex").slice(0, 16);
  const packages = await cachedFolder(
    join(cacheFolder(), "tests", `parquet-readers-${name}`),
    async (unpacked) => {
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"];
      await run("python3", [...pip, "--target", unpacked, "--requirement", requirements]);
    },
  );
  const env = { ...process.env, PYTHONPATH: packages };
  const { stdout } = await run("python3", ["-c", program, ...args], { env, maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}
