/** Files by path. */
export type Files = Record<string, Uint8Array | string>;

/** The files of a workspace: its tool's snapshot, pairs of a path and its content in base64. Throws if it is none. */
export function filesOf(snapshot: Uint8Array): Files {
  const pairs: [string, string][] = JSON.parse(Buffer.from(snapshot).toString());
  return Object.fromEntries(pairs.map(([path, content]) => [path, Buffer.from(content, "base64")]));
}

/** Lays files over others: what is in the way of one, a file where its folder is or a folder where it is, goes. */
export function laidOver(files: Files, over: Files): Files {
  const paths = Object.keys(over);
  const isFree = (path: string) =>
    !paths.some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
  return { ...Object.fromEntries(Object.entries(files).filter(([path]) => isFree(path))), ...over };
}

/** Bytes that the least file takes. */
const block = 4096;

/** Room for files, and for as much again that is written, in MiB. */
export function roomFor(files: Files): number {
  const bytes = Object.values(files).reduce((sum, content) => sum + Buffer.byteLength(content) + block, 0);
  return Math.ceil(bytes / 2 ** 20) * 2 + 16;
}
