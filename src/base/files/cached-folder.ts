import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Creates `folder` unless it exists. `make` fills a temporary folder, which is then renamed, so the folder appears
 * whole or not at all. If two processes race, the first one's folder stays.
 */
export async function cachedFolder(
  folder: string,
  make: (unpacked: string) => Promise<void>,
): Promise<string> {
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const work = await mkdtemp(join(dirname(folder), ".download-"));
  try {
    const unpacked = join(work, "unpacked");
    await mkdir(unpacked);
    await make(unpacked);
    await rename(unpacked, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
