import { isUtf8 } from "node:buffer";
import { posix } from "node:path";
import { Mistake } from "./mistake.ts";

/** The limits of a tree. */
export interface TreeLimits {
  files: number;
  bytes: number;
}

/**
 * A trajectory's files by path. They are only in memory, so a path or a symbolic link can't lead anywhere
 * else.
 */
export class Tree {
  readonly #files = new Map<string, Uint8Array>();
  readonly #limits: TreeLimits;

  /** Throws Mistake for files that don't fit or have an invalid path. */
  constructor(files: Iterable<readonly [string, Uint8Array]>, limits: TreeLimits) {
    this.#limits = limits;
    let bytes = 0;
    for (const [path, content] of files) {
      this.#files.set(this.#placed(path), content);
      bytes += content.length;
    }
    if (this.#files.size > limits.files) throw new Mistake(`there may be ${limits.files} files, no more`);
    if (bytes > limits.bytes) throw new Mistake(`the files may take ${limits.bytes} bytes, no more`);
  }

  /** Sorted by path. */
  entries(): [string, Uint8Array][] {
    return [...this.#files].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  get(path: string): Uint8Array | undefined {
    return this.#files.get(treePath(path));
  }

  /** The text of a file. Throws Mistake if the file does not exist or is not UTF-8. */
  text(path: string): string {
    const content = this.get(path);
    if (content === undefined) throw new Mistake(`there is no file ${path}`);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      throw new Mistake(`${path} is no text (${content.length} bytes)`);
    }
  }

  write(path: string, text: string): void {
    const content = Buffer.from(text);
    const placed = this.#placed(path);
    const others = this.entries().filter(([other]) => other !== placed);
    const bytes = others.reduce((sum, [, { length }]) => sum + length, content.length);
    const { files, bytes: room } = this.#limits;
    if (others.length + 1 > files) throw new Mistake(`there may be ${files} files, no more`);
    if (bytes > room) throw new Mistake(`the files may take ${room} bytes, and would take ${bytes}`);
    this.#files.set(placed, content);
  }

  /** Checks that a file may be at a path: the path is not a folder, and none of its folders is a file. */
  #placed(path: string): string {
    const placed = treePath(path);
    const parts = placed.split("/");
    const file = parts.map((_, end) => parts.slice(0, end).join("/")).find((above) => this.#files.has(above));
    if (file !== undefined) throw new Mistake(`${file} is a file, not a folder`);
    for (const other of this.#files.keys())
      if (other.startsWith(`${placed}/`)) throw new Mistake(`${placed} is a folder`);
    return placed;
  }
}

/** Bytes of a name that are not UTF-8, as a sandbox lists them. */
const bytes = /[\udc80-\udcff]/gu;

/** A name from its bytes. */
export function nameOf(name: Buffer): string {
  let text = "";
  for (let at = 0; at < name.length; ) {
    const character = [1, 2, 3, 4].map((length) => name.subarray(at, at + length)).find(isUtf8);
    text += character?.toString() ?? String.fromCharCode(0xdc00 + (name[at] ?? 0));
    at += character?.length ?? 1;
  }
  return text;
}

/** Shows a text with non-UTF-8 bytes of names to people: caf\xe9.txt. */
export function shown(text: string): string {
  return text.replace(bytes, (byte) => `\\x${(byte.charCodeAt(0) - 0xdc00).toString(16)}`);
}

/** Normalizes a path. Throws Mistake for one that leads out of the tree, or that no file system accepts. */
export function treePath(path: string): string {
  const plain = posix.normalize(path);
  const parts = plain.split("/");
  if (plain === "." || plain.startsWith("/") || plain.endsWith("/") || parts.includes(".."))
    throw new Mistake(`${path} is no path of a file below the workspace, such as src/main.py`);
  const isPlain = plain.replace(bytes, "").isWellFormed() && !plain.includes("\0") && parts.length <= 20;
  if (!isPlain || parts.some((part) => Buffer.byteLength(part.replace(bytes, "?")) > 200))
    throw new Mistake("a path may have 20 parts of 200 bytes each");
  return plain;
}
