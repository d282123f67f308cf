import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { applyEntry, emptyTree, type Node } from "./file-tree.ts";
import { tarEntries, writeEntry } from "./tar-entries.ts";

/**
 * Writes the files of an image's layers to an empty folder, as files of this process's user. The layers are merged in
 * memory first and links are written last, so nothing is ever written through a link. Throws for layers that are
 * damaged or lead out of the image.
 */
export async function unpackImage(layers: readonly string[], folder: string): Promise<void> {
  const root = emptyTree();
  for (const [layer, file] of layers.entries()) {
    const bytes = createReadStream(file);
    const hash = createHash("sha256");
    bytes.on("data", (chunk) => hash.update(chunk));
    await tarEntries(bytes, (entry, index) => applyEntry(root, layer, index, entry));
    const name = basename(file);
    if (/^[0-9a-f]{64}$/.test(name) && hash.digest("hex") !== name)
      throw new Error(`the layer ${name} is damaged`);
  }
  const files = new Map<string, string[]>();
  const links: [path: string, target: string][] = [];
  await writeFolders(root, folder, files, links);
  for (const [layer, file] of layers.entries())
    await tarEntries(createReadStream(file), async (entry, index) => {
      const [first, ...others] = files.get(placeOf({ layer, index })) ?? [];
      if (first === undefined) return;
      await writeEntry(entry, first, entry.mode | 0o600);
      for (const path of others) await link(first, path);
    });
  for (const [path, target] of links) await symlink(target, path);
}

/** Makes the folders, and collects the paths of files and links. */
async function writeFolders(
  node: Node,
  path: string,
  files: Map<string, string[]>,
  links: [path: string, target: string][],
): Promise<void> {
  if (node.type === "link") links.push([path, node.target]);
  else if (node.type === "file") files.set(placeOf(node), [...(files.get(placeOf(node)) ?? []), path]);
  else {
    await mkdir(path, { recursive: true, mode: node.mode | 0o700 });
    for (const [name, child] of node.children) await writeFolders(child, join(path, name), files, links);
  }
}

function placeOf({ layer, index }: { layer: number; index: number }): string {
  return `${layer}:${index}`;
}
