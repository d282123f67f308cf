const mebibyte = 2 ** 20;
const most = 10_000;

/** The files of a session. Each has the number of the change that added or removed it. */
export class SandboxFiles {
  readonly #files = new Map<string, { content: Uint8Array | undefined; change: number }>();
  readonly #most: number;
  /** The number of changes so far. */
  changes = 0;

  constructor(disk: number) {
    this.#most = disk * mebibyte;
  }

  /** Writes files. Returns false, and writes nothing, if they don't fit. */
  put(files: readonly (readonly [string, Uint8Array])[]): boolean {
    const after = new Map(this.#present().map(([path, content]) => [path, content.length]));
    for (const [path, content] of files) after.set(path, content.length);
    if (after.size > most || [...after.values()].reduce((sum, size) => sum + size, 0) > this.#most)
      return false;
    this.changes++;
    this.#clear(new Set(files.map(([path]) => path)));
    for (const [path, content] of files) this.#files.set(path, { content, change: this.changes });
    return true;
  }

  /**
   * Removes files and folders that are in the way: files at the places of new folders, and folders at the
   * places of new files.
   */
  #clear(paths: ReadonlySet<string>): void {
    const folders = new Set([...paths].flatMap(foldersOf));
    for (const [path] of this.#present())
      if (folders.has(path) || foldersOf(path).some((folder) => paths.has(folder)))
        this.#files.set(path, { content: undefined, change: this.changes });
  }

  /** Applies a program's changes. Returns false if they exceed the limit. */
  change(put: Record<string, string>, removed: readonly string[]): boolean {
    this.changes++;
    for (const path of removed) this.#files.set(path, { content: undefined, change: this.changes });
    return this.put(Object.entries(put).map(([path, content]) => [path, Buffer.from(content, "base64")]));
  }

  /** Returns the changes after a given one, for an interpreter that has seen the files up to it. */
  since(change: number): { put: Record<string, string>; removed: string[] } {
    const put: [string, string][] = [];
    const removed: string[] = [];
    for (const [path, file] of this.#files) {
      if (file.change <= change) continue;
      if (file.content === undefined) removed.push(path);
      else put.push([path, Buffer.from(file.content).toString("base64")]);
    }
    return { put: Object.fromEntries(put), removed };
  }

  read(path: string): Uint8Array | undefined {
    return this.#files.get(path)?.content;
  }

  list(): { path: string; size: number }[] {
    return this.#present()
      .map(([path, content]) => ({ path, size: content.length }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  #present(): [string, Uint8Array][] {
    return [...this.#files].flatMap(([path, { content }]) =>
      content === undefined ? [] : [[path, content]],
    );
  }
}

function foldersOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
