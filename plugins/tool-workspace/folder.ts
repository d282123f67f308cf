import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Mistake } from "./mistake.ts";
import type { TreeLimits } from "./tree.ts";

/** The files of a folder, without `.git`. Throws Mistake, with its name, for what is neither file nor folder, and for more than may be. */
export async function readFolder(folder: string, limits: TreeLimits): Promise<[string, Uint8Array][]> {
  const files: [string, Uint8Array][] = [];
  let bytes = 0;
  const read = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (path !== ".git") await read(path);
        continue;
      }
      if (!entry.isFile()) throw new Mistake(`${path} is no file; a workspace has files alone`);
      bytes += (await stat(join(folder, path))).size;
      if (files.length === limits.files) throw new Mistake(`it has more than ${limits.files} files`);
      if (bytes > limits.bytes) throw new Mistake(`its files take more than ${limits.bytes} bytes`);
      files.push([path, await readFile(join(folder, path))]);
    }
  };
  await read("");
  return files;
}
