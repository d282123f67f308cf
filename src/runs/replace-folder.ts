import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Makes a folder whole or not at all: `fill` writes into a temporary one, which then takes the place of `path`. */
export async function replaceFolder(path: string, fill: (temporary: string) => Promise<void>): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  await mkdir(dirname(path), { recursive: true });
  await mkdir(temporary);
  try {
    await fill(temporary);
    await rm(path, { recursive: true, force: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}
