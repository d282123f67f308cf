import type { FileSystem, Node, Operation } from "./pyodide-parts.ts";

const noSpace = 51;
/** The bytes that a name, a folder or a link counts, which limits their number. */
const ofNode = 1024;

/**
 * Limits what a program may put into Emscripten's file system, which is in JavaScript's memory: `most` bytes
 * in addition to the present content. Beyond that, writes fail with ENOSPC. Calls `written` with each file
 * that is written.
 */
export function boundFiles(fileSystem: FileSystem, most: number, written: (node: Node) => void): void {
  const memory = fileSystem.filesystems.MEMFS;
  const { dir, file } = memory.ops_table;
  const limit = count(fileSystem) + most;
  let used = limit - most;

  function take(bytes: number): void {
    if (used + bytes > limit) used = count(fileSystem); // counts what has been removed since as free
    if (used + bytes > limit) throw new fileSystem.ErrnoError(noSpace);
    used += bytes;
  }
  const bounded =
    (operation: Operation, bytes: (...values: Parameters<Operation>) => number): Operation =>
    (...values) => {
      take(bytes(...values));
      return operation(...values);
    };

  dir.node.mknod = bounded(dir.node.mknod, () => ofNode);
  dir.node.symlink = bounded(dir.node.symlink, (_parent, _name, target) => ofNode + target.length);
  file.node.setattr = bounded(file.node.setattr, (node: Node, { size }: { size?: number }) => {
    if (size === undefined) return 0;
    written(node);
    return Math.max(0, size - (node.usedBytes ?? 0));
  });
  const write = bounded(memory.stream_ops.write, ({ node }: { node: Node }, _from, _at, length, position) => {
    written(node);
    return Math.max(0, position + length - (node.usedBytes ?? 0));
  });
  file.stream.write = write;
  memory.stream_ops.write = write; // msync calls this one
}

/** The bytes of everything that has a name or is open. */
function count(fileSystem: FileSystem): number {
  const counted = new Set<Node>();
  const add = (node: Node) => {
    if (counted.has(node)) return;
    counted.add(node);
    if (fileSystem.isDir(node.mode)) for (const child of Object.values(folder(node))) add(child);
  };
  add(fileSystem.root);
  for (const stream of fileSystem.streams) if (stream?.node !== undefined) add(stream.node);
  let bytes = 0;
  for (const node of counted) bytes += ofNode + (node.usedBytes ?? 0);
  return bytes;
}

/** The contents of a folder, by name. */
export function folder(node: Node): Record<string, Node> {
  const { contents } = node;
  return contents === null || contents === undefined || ArrayBuffer.isView(contents) ? {} : contents;
}
