/** Files by path. */
export type Files = Record<string, Uint8Array | string>;

/**
 * Reads the files of a workspace from its tool's snapshot: pairs of a path and its content in base64. Throws
 * if it is invalid.
 */
export function filesOf(snapshot: Uint8Array): Files {
  const pairs: [string, string][] = JSON.parse(Buffer.from(snapshot).toString());
  return Object.fromEntries(pairs.map(([path, content]) => [path, Buffer.from(content, "base64")]));
}

/** Lays files over others. Removes files at the places of folders, and folders at the places of files. */
export function laidOver(files: Files, over: Files): Files {
  const paths = Object.keys(over);
  const isFree = (path: string) =>
    !paths.some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
  return { ...Object.fromEntries(Object.entries(files).filter(([path]) => isFree(path))), ...over };
}

/** The minimum bytes that a file takes. */
const block = 4096;

/** The MiB that files need, with the same room again for output. */
export function roomFor(files: Files): number {
  const bytes = Object.values(files).reduce((sum, content) => sum + Buffer.byteLength(content) + block, 0);
  return Math.ceil(bytes / 2 ** 20) * 2 + 16;
}
