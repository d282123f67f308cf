import { stat } from "node:fs/promises";
import { persistently } from "../../base/files/persistently.ts";
import { FileBroken } from "./backend.ts";
import { digestOf, type Files } from "./tree.ts";

/** Files that this process has read whole and found to be what their trees say, by path and state. */
const checks = new Map<string, Promise<void>>();

/**
 * Reads a file whole and holds it against its tree's record, once in this process for as long as its inode, size and times stay. What
 * seems broken is read twice: once said, it is so for good. Throws FileBroken, which names the file by `name`.
 */
export async function checkFile(path: string, name: string, { size, sha256 }: Files[string]): Promise<void> {
  const { dev, ino, mtimeNs, ctimeNs } = await persistently(() => stat(path, { bigint: true }));
  const state = `${path} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs} ${sha256}`;
  const check = checks.get(state) ?? checked();
  checks.set(state, check);
  try {
    await check;
  } catch (error) {
    checks.delete(state);
    throw error;
  }

  async function checked(): Promise<void> {
    for (let tries = 0; tries < 2; tries++) {
      const found = await digestOf(path);
      if (found.size === size && found.sha256 === sha256) return;
    }
    throw new FileBroken(`${name} is not what its tree's record says`);
  }
}
