import { folder } from "./file-quota.ts";
import type { GuestFiles } from "./protocol.ts";
import type { FileSystem, Node } from "./pyodide-parts.ts";

/** The working folder, and the limits on the depth and the number of its files that leave the interpreter. */
export const workFolder = "/work";
const deepest = 50;
const most = 10_000;

/** The state of the working folder that Everturn knows, and a program's changes since. */
export class PythonFiles {
  readonly #fileSystem: FileSystem;
  readonly #known = new Map<string, Node>();
  readonly #written = new Set<Node>();

  constructor(fileSystem: FileSystem) {
    this.#fileSystem = fileSystem;
  }

  /** Notes that a file was written, so that it is sent again. */
  written(node: Node): void {
    this.#written.add(node);
  }

  /** Applies Everturn's changes. Removes what a program left in their way. */
  take(put: GuestFiles, removed: readonly string[]): void {
    for (const path of removed) {
      if (this.#known.delete(path)) this.#remove(`${workFolder}/${path}`);
    }
    let made = "";
    for (const [path, content] of Object.entries(put)) {
      const whole = `${workFolder}/${path}`;
      const above = whole.slice(0, whole.lastIndexOf("/"));
      if (above !== made) this.#makeFolder(above);
      made = above;
      this.#remove(whole);
      this.#fileSystem.writeFile(whole, Uint8Array.fromBase64(content));
      const node = this.#node(whole);
      if (node !== undefined) this.#known.set(path, node);
    }
    this.#written.clear();
  }

  /** Returns a program's changes. */
  changes(): { put: GuestFiles; removed: string[] } {
    const now = new Map<string, Node>();
    this.#walk(this.#fileSystem.lookupPath(workFolder).node, "", 0, now);
    const changed = [...now].filter(
      ([path, node]) => this.#known.get(path) !== node || this.#written.has(node),
    );
    const put = Object.fromEntries(changed.map(([path, node]) => [path, bytesOf(node).toBase64()]));
    const removed = [...this.#known.keys()].filter((path) => !now.has(path));
    this.#known.clear();
    for (const [path, node] of now) this.#known.set(path, node);
    this.#written.clear();
    return { put, removed };
  }

  /** Makes a folder and its parents, and makes them writable. */
  #makeFolder(path: string): void {
    const parts = path.split("/");
    for (let count = 2; count <= parts.length; count++) {
      const at = parts.slice(0, count).join("/");
      const node = this.#node(at);
      const isFolder = node !== undefined && this.#fileSystem.isDir(node.mode);
      if (node !== undefined && !isFolder) this.#remove(at);
      if (!isFolder) this.#fileSystem.mkdir(at);
      else if ((node.mode & 0o700) !== 0o700) this.#fileSystem.chmod(at, 0o777);
    }
  }

  #remove(path: string): void {
    const node = this.#node(path);
    if (node === undefined) return;
    if (!this.#fileSystem.isDir(node.mode)) {
      this.#fileSystem.unlink(path);
      return;
    }
    this.#fileSystem.chmod(path, 0o777);
    for (const name of Object.keys(folder(node))) this.#remove(`${path}/${name}`);
    this.#fileSystem.rmdir(path);
  }

  #node(path: string): Node | undefined {
    try {
      return this.#fileSystem.lookupPath(path, { follow: false }).node;
    } catch {
      return undefined; // nothing is there
    }
  }

  #walk(node: Node, path: string, depth: number, found: Map<string, Node>): void {
    for (const [name, child] of Object.entries(folder(node))) {
      if (found.size >= most) return;
      const below = `${path}${name}`;
      if (this.#fileSystem.isFile(child.mode)) found.set(below, child);
      else if (this.#fileSystem.isDir(child.mode) && depth < deepest)
        this.#walk(child, `${below}/`, depth + 1, found);
    }
  }
}

function bytesOf({ contents, usedBytes }: Node): Uint8Array {
  return ArrayBuffer.isView(contents)
    ? new Uint8Array(contents.buffer, contents.byteOffset, usedBytes)
    : new Uint8Array();
}
