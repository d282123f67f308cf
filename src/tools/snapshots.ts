import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeOnce } from "../runs/files.ts";
import { patiently } from "../store/patiently.ts";
import { isSystemError } from "../store/system-error.ts";

/** Keeps a snapshot in `folder` by its content; returns its name. */
export async function putSnapshot(folder: string, bytes: Uint8Array): Promise<string> {
  const name = createHash("sha256").update(bytes).digest("hex");
  const path = join(folder, name);
  if (!existsSync(path)) await patiently(() => writeOnce(path, bytes));
  return name;
}

/** A snapshot that was kept; undefined if there is none. */
export async function getSnapshot(folder: string, name: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(join(folder, name));
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return undefined;
    throw error;
  }
}
