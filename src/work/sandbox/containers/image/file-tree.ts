import { posix } from "node:path";
import type { TarEntry } from "./tar-entries.ts";

/** A file of an image: where its content is, or where its link leads. */
export type Node =
  | { type: "folder"; layer: number; mode: number; children: Map<string, Node> }
  | { type: "file"; layer: number; mode: number; index: number }
  | { type: "link"; layer: number; target: string };
type Folder = Extract<Node, { type: "folder" }>;

/** The most links that lead to a path. */
const mostLinks = 40;
const [removed, emptied] = [".wh.", ".wh..wh..opq"];

/** An empty image. */
export function emptyTree(): Folder {
  return { type: "folder", layer: -1, mode: 0o755, children: new Map() };
}

/**
 * Applies an entry of a layer, also one that removes files of the layers below (a whiteout). Links on the way are
 * followed inside the image. Devices and pipes are left out.
 */
export function applyEntry(root: Folder, layer: number, index: number, entry: TarEntry): void {
  const { path, type, target, mode } = entry;
  if (path === "") {
    root.mode = mode;
    return;
  }
  const [folder, name] = [folderAt(root, posix.dirname(path), layer), posix.basename(path)];
  if (name === emptied) {
    for (const [child, { layer: from }] of folder.children) if (from < layer) folder.children.delete(child);
    return;
  }
  if (name.startsWith(removed)) {
    folder.children.delete(name.slice(removed.length));
    return;
  }
  const before = folder.children.get(name);
  if (type === "folder" && before?.type === "folder") Object.assign(before, { layer, mode });
  else if (type === "folder") folder.children.set(name, { type: "folder", layer, mode, children: new Map() });
  else if (type === "file") folder.children.set(name, { type: "file", layer, mode, index });
  else if (type === "link") folder.children.set(name, { type: "link", layer, target });
  else if (type === "hard-link") folder.children.set(name, linked(root, target, layer));
}

function linked(root: Folder, target: string, layer: number): Node {
  const path = posix.normalize(`/${target}`).slice(1);
  const node = folderAt(root, posix.dirname(path), layer).children.get(posix.basename(path));
  if (node === undefined || node.type === "folder") throw new Error(`a link to ${target} leads nowhere`);
  return node;
}

/** The folder at a path, which is made if there is none. */
function folderAt(root: Folder, path: string, layer: number): Folder {
  const ahead = path.split("/").reverse();
  const way = [root];
  for (let links = 0; ahead.length > 0; ) {
    const [name = "", folder] = [ahead.pop(), way.at(-1) ?? root];
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (way.length > 1) way.pop();
      continue;
    }
    const node = folder.children.get(name);
    if (node?.type === "folder") way.push(node);
    else if (node?.type === "link") {
      if (++links > mostLinks) throw new Error(`the links on the way to ${path} do not end`);
      if (node.target.startsWith("/")) way.length = 1;
      ahead.push(...node.target.split("/").reverse());
    } else {
      const made: Folder = { type: "folder", layer, mode: 0o755, children: new Map() };
      folder.children.set(name, made);
      way.push(made);
    }
  }
  return way.at(-1) ?? root;
}
