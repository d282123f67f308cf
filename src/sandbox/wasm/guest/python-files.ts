import { folder } from "./file-quota.ts";
import type { GuestFiles } from "./protocol.ts";
import type { FileSystem, Node } from "./pyodide-parts.ts";

/** The working folder, and how deep and how many files of it leave the interpreter. */
export const workFolder = "/work";
const deepest = 50;
const most = 10_000;

/** What of the working folder Everturn knows, and what a program has changed since. */
export class PythonFiles {
  readonly #fileSystem: FileSystem;
  readonly #known = new Map<string, Node>();
  readonly #written = new Set<Node>();

  constructor(fileSystem: FileSystem) {
    this.#fileSystem = fileSystem;
  }

  /** A file that is written is told of again. */
  written(node: Node): void {
    this.#written.add(node);
  }

  /** What Everturn changed since. */
  take(put: GuestFiles, removed: readonly string[]): void {
    const { mkdirTree, writeFile, lookupPath, unlink } = this.#fileSystem;
    for (const path of removed) {
      if (this.#known.delete(path)) unlink(`${workFolder}/${path}`);
    }
    for (const [path, content] of Object.entries(put)) {
      const whole = `${workFolder}/${path}`;
      mkdirTree(whole.slice(0, whole.lastIndexOf("/")));
      writeFile(whole, Uint8Array.fromBase64(content));
      this.#known.set(path, lookupPath(whole).node);
    }
    this.#written.clear();
  }

  /** What a program changed since. */
  changes(): { put: GuestFiles; removed: string[] } {
    const now = new Map<string, Node>();
    this.#walk(this.#fileSystem.lookupPath(workFolder).node, "", 0, now);
    const put: GuestFiles = {};
    for (const [path, node] of now) {
      if (this.#known.get(path) !== node || this.#written.has(node)) put[path] = bytesOf(node).toBase64();
    }
    const removed = [...this.#known.keys()].filter((path) => !now.has(path));
    this.#known.clear();
    for (const [path, node] of now) this.#known.set(path, node);
    this.#written.clear();
    return { put, removed };
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
