import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Makes `folder` by what `make` leaves in the folder that it is given, unless it is there already. It appears whole
 * or not at all; of two processes that race, the first one's stays.
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
