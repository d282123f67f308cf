import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { persistently } from "./persistently.ts";

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

/** Opens a folder to flush it. Returns undefined on Windows, which can't flush folders. */
export function openFolder(path: string): number | undefined {
  return process.platform === "win32" ? undefined : openSync(path, "r");
}

/** Makes a folder, the files and folders in it, and its name survive a power failure. */
export async function flushAll(folder: string): Promise<void> {
  const entries = await persistently(() => readdir(folder, { withFileTypes: true, recursive: true }));
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await persistently(() => flushFolder(path));
    if (entry.isFile()) await persistently(() => flushFile(path));
  }
  await persistently(() => flushFolder(folder));
  await persistently(() => flushFolder(dirname(folder)));
}

async function flushFile(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
