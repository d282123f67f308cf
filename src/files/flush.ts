import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Makes the names in a folder survive a power failure. */
export function flushFolder(folder: string): void {
  const descriptor = openFolder(folder);
  if (descriptor === undefined) return;
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Opens a folder to be flushed; undefined on Windows, which flushes none. */
export function openFolder(path: string): number | undefined {
  return process.platform === "win32" ? undefined : openSync(path, "r");
}

/** Makes a folder, the files and folders in it, and its name survive a power failure. */
export async function flushAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) flushFolder(path);
    if (!entry.isFile()) continue;
    const file = await open(path, "r");
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
  flushFolder(folder);
  flushFolder(dirname(folder));
}
