import { readdir, readFile, stat } from "node:fs/promises";
import { sep } from "node:path";
import { Mistake } from "./mistake.ts";
import { nameOf, type TreeLimits } from "./tree.ts";

/**
 * Reads the files of a folder, without `.git`. Throws Mistake, with its name, for an entry that is neither a
 * file nor a folder, and for more files than the limits allow.
 */
export async function readFolder(folder: string, limits: TreeLimits): Promise<[string, Uint8Array][]> {
  const files: [string, Uint8Array][] = [];
  let bytes = 0;
  const read = async (at: Buffer, below: string): Promise<void> => {
    for (const entry of await readdir(at, { withFileTypes: true, encoding: "buffer" })) {
      const path = below + nameOf(entry.name);
      const place = Buffer.concat([at, Buffer.from(sep), entry.name]);
      if (entry.isDirectory()) {
        if (path !== ".git") await read(place, `${path}/`);
        continue;
      }
      if (!entry.isFile()) throw new Mistake(`${path} is not a file; a workspace contains only files`);
      bytes += (await stat(place)).size;
      if (files.length === limits.files) throw new Mistake(`it has more than ${limits.files} files`);
      if (bytes > limits.bytes) throw new Mistake(`its files take more than ${limits.bytes} bytes`);
      files.push([path, await readFile(place)]);
    }
  };
  await read(Buffer.from(folder), "");
  return files;
}
