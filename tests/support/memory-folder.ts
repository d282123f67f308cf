import { readFileSync, statfsSync } from "node:fs";
import { availableMemory } from "node:process";

const folder = "/dev/shm";

/** Tests have held 2 GB of files at once, beside 6 GB of their processes. */
const [files, together] = [4 * 2 ** 30, 12 * 2 ** 30];

/**
 * A folder whose files are in memory, with room for those of the tests, and from which programs may be started; undefined where
 * there is none. On a disk, whose file system is asked for thousands of small files, tests take a fifth more of the processor.
 */
export function memoryFolder(): string | undefined {
  if (process.platform !== "linux") return undefined;
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const [, , kind, options] = mounts.findLast((line) => line.split(" ")[1] === folder)?.split(" ") ?? [];
  if (kind !== "tmpfs" || options?.split(",").includes("noexec")) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= files && availableMemory() >= together ? folder : undefined;
}
