import type { GuestFiles } from "./protocol.ts";

/** The bytes that a file counts in addition to its content, which limits their number. */
const ofFile = 1024;
const folder = "/work/";

/** The session's files as a JavaScript program sees them: paths and bytes, up to `most` bytes. */
export class JavascriptFiles {
  readonly #most: number;
  readonly #files = new Map<string, Uint8Array>();
  #used = 0;
  #changed = new Set<string>();
  #removed = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  take(put: GuestFiles, removed: readonly string[]): void {
    for (const path of removed) this.remove(path);
    for (const [path, content] of Object.entries(put)) this.put(path, Uint8Array.fromBase64(content), false);
    this.#changed = new Set();
    this.#removed = new Set();
  }

  changes(): { put: GuestFiles; removed: string[] } {
    const contents = [...this.#changed].map((path) => [path, this.#files.get(path)?.toBase64() ?? ""]);
    const put: GuestFiles = Object.fromEntries(contents);
    const removed = [...this.#removed];
    this.#changed = new Set();
    this.#removed = new Set();
    return { put, removed };
  }

  read(path: string): Uint8Array | undefined {
    return this.#files.get(plain(path));
  }

  /** Writes a file. Returns an error code if that fails, or "". */
  put(path: string, content: Uint8Array, append: boolean): "" | "ENOSPC" | "EISDIR" | "ENOTDIR" {
    const name = plain(path);
    if (name === "" || this.names(path).length > 0) return "EISDIR";
    if (foldersOf(name).some((parent) => this.#files.has(parent))) return "ENOTDIR";
    const before = this.#files.get(name);
    const bytes = append && before !== undefined ? joined(before, content) : content;
    const more = bytes.length - (before?.length ?? -ofFile - name.length);
    if (this.#used + more > this.#most) return "ENOSPC";
    this.#used += more;
    this.#files.set(name, bytes);
    this.#changed.add(name);
    this.#removed.delete(name);
    return "";
  }

  remove(path: string): boolean {
    const name = plain(path);
    const before = this.#files.get(name);
    if (before === undefined) return false;
    this.#used -= before.length + ofFile + name.length;
    this.#files.delete(name);
    this.#changed.delete(name);
    this.#removed.add(name);
    return true;
  }

  /** Whether a file exists, or a folder with a file in it. */
  exists(path: string): boolean {
    return this.#files.has(plain(path)) || this.names(path).length > 0;
  }

  /** The names in a folder. */
  names(path: string): string[] {
    const name = plain(path);
    const prefix = name === "" ? "" : `${name}/`;
    const below = [...this.#files.keys()].filter((one) => one.startsWith(prefix));
    return [...new Set(below.map((one) => one.slice(prefix.length).split("/")[0] ?? ""))];
  }
}

/** A path below the working folder, without `.`, `..` and the folder's own name. */
function plain(path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith(folder) ? path.slice(folder.length) : path).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function foldersOf(name: string): string[] {
  const parts = name.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

function joined(before: Uint8Array, after: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(before.length + after.length);
  bytes.set(before);
  bytes.set(after, before.length);
  return bytes;
}
